import { createHash } from "node:crypto";
import { lstat, open, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { VenvHostError } from "../../errors.js";
import { readDistributions } from "../health/distributions.js";
import { recordLine } from "../health/record-file.js";
import { unlessMissing } from "../system-fault.js";

// Installers write the path of the environment into scripts (first line, or a `sh` line where that is too long), into the
// activation scripts, pyvenv.cfg and .pth files. It is built elsewhere than it will live, so these are rewritten, and the
// RECORD files that list them. Neither installer can be told another path: uv has --relocatable, pip has nothing.

const headBytes = 8_192;
const maxScriptBytes = 16_777_216;

/** Rewrites an environment that was made at `from` for its life at `to`. Throws the system's errors. */
export async function relocate(from: string, to: string, sitePackages: string): Promise<void> {
  const changed = new Map<string, Buffer>();
  for (const file of await candidates(from, join(from, sitePackages))) {
    const content = await rewritten(file, from, to);
    if (content !== undefined) changed.set(file, content);
  }
  if (changed.size > 0) await rewriteRecords(join(from, sitePackages), changed);
}

async function candidates(environment: string, sitePackages: string): Promise<readonly string[]> {
  const bin = join(environment, "bin");
  const scripts = ((await unlessMissing(readdir(bin))) ?? []).map((name) => join(bin, name));
  const pth = (await readdir(sitePackages))
    .filter((name) => name.endsWith(".pth"))
    .map((name) => join(sitePackages, name));
  return [join(environment, "pyvenv.cfg"), ...scripts, ...pth];
}

/** The new content of a file, which it now has; undefined when it holds no path. */
async function rewritten(path: string, from: string, to: string): Promise<Buffer | undefined> {
  const stats = await lstat(path);
  // Links lead to the interpreter; larger programs of a wheel hold no path unless their first bytes do.
  if (!stats.isFile()) return undefined;
  if (!(stats.size > headBytes ? await headOf(path) : await readFile(path)).includes(from)) return undefined;
  if (stats.size > maxScriptBytes) {
    throw new VenvHostError("VENV_BUILD_FAILED", `the script ${basename(path)} is too long to be moved`, {
      step: "relocate",
    });
  }
  // Byte by byte as Latin-1: a script may be in any encoding.
  const text = (await readFile(path)).toString("latin1");
  const content = Buffer.from(text.replaceAll(latin1(from), latin1(to)), "latin1");
  await replace(path, content, stats.mode & 0o777);
  return content;
}

const latin1 = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const buffer = Buffer.alloc(headBytes);
    const { bytesRead } = await file.read(buffer, 0, headBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A new file in its place: the old one may be a second name of a file in an installer's cache. */
async function replace(path: string, content: Buffer | string, mode: number): Promise<void> {
  await writeFile(`${path}.moved`, content, { mode, flag: "wx" });
  await rename(`${path}.moved`, path);
}

async function rewriteRecords(sitePackages: string, changed: ReadonlyMap<string, Buffer>): Promise<void> {
  for (const { folder, files } of await readDistributions(sitePackages)) {
    if (files === undefined || !files.some(({ path }) => changed.has(join(sitePackages, path)))) continue;
    const lines = files.map((file) => {
      const content = changed.get(join(sitePackages, file.path));
      if (content === undefined) return recordLine(file);
      const hash = `sha256=${createHash("sha256").update(content).digest("base64url")}`;
      return recordLine({ path: file.path, hash, size: content.length });
    });
    await replace(join(sitePackages, folder, "RECORD"), lines.join(""), 0o644);
  }
}

/** Where an environment has its packages, relative to it: `lib/python3.12/site-packages`. */
export function sitePackagesOf(version: string): string {
  return join("lib", `python${version.split(".").slice(0, 2).join(".")}`, "site-packages");
}
