import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** What a path of a test folder holds: text, `#!` text made executable, bytes, a link, or an empty folder. */
export type Content = string | Uint8Array | { readonly link: string } | { readonly program: string } | "folder/";

/** A folder of its own, removed when the test ends (or when `atEnd` says). Its path has no symlinks in it. */
export function testFolder(
  contents: Readonly<Record<string, Content>> = {},
  atEnd: (clean: () => void) => void = onTestFinished,
): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "berth-attest-")));
  atEnd(() => {
    // Snapshots are read-only folders, which only root removes as they are.
    execFileSync("chmod", ["-R", "u+rwX", folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  fill(folder, contents);
  return folder;
}

export function fill(folder: string, contents: Readonly<Record<string, Content>>): void {
  for (const [path, content] of Object.entries(contents)) put(join(folder, path), content);
}

export function put(path: string, content: Content): void {
  mkdirSync(dirname(path), { recursive: true });
  if (content === "folder/") mkdirSync(path);
  else if (typeof content === "string" || content instanceof Uint8Array) writeFileSync(path, content);
  else if ("link" in content) symlinkSync(content.link, path);
  else {
    writeFileSync(path, content.program);
    chmodSync(path, 0o755);
  }
}
