import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach } from "vitest";

/** A file of a test folder: its text, with the mode 0644; or more. A name that ends with a slash is a folder. */
export type TestFile = string | { readonly text: string; readonly mode: number } | { readonly link: string };

const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder with nothing in it, removed after the test. */
export function emptyFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "berth-plugin-")));
  made.push(folder);
  return folder;
}

/** Writes files whatever the umask is. */
export function fill(folder: string, files: Readonly<Record<string, TestFile>>): string {
  for (const [name, file] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(name.endsWith("/") ? path : dirname(path), { recursive: true, mode: 0o755 });
    if (name.endsWith("/")) continue;
    if (typeof file === "object" && "link" in file) {
      symlinkSync(file.link, path);
      continue;
    }
    const { text, mode } = typeof file === "string" ? { text: file, mode: 0o644 } : file;
    writeFileSync(path, text);
    chmodSync(path, mode);
  }
  return folder;
}

/** A plugin's manifest, as text. */
export function manifestText(changes: object = {}, process: object = {}): string {
  return JSON.stringify({
    name: "smoke",
    version: "1.0.0",
    protocol: 1,
    process: { command: "./bin/plugin", ...process },
    ...changes,
  });
}

/** A program of a plugin, for the file that its manifest names. */
export function script(text: string): TestFile {
  return { text: text.startsWith("#!") ? text : `#!/bin/sh\n${text}\n`, mode: 0o755 };
}

/** A plugin whose executable is this shell script. */
export function pluginFolder(text = "exit 0", files: Readonly<Record<string, TestFile>> = {}): string {
  return fill(emptyFolder(), { "plugin.json": manifestText(), "bin/plugin": script(text), ...files });
}
