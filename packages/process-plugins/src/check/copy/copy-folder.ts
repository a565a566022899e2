import { constants } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, readlink, symlink } from "node:fs/promises";
import { join } from "node:path";

/** What bounds a copy. */
export interface CopyOptions {
  /** Entries: default 100_000. */
  readonly maxEntries?: number | undefined;
  /** Of all files: default 1 GiB. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const maxEntries = 100_000;
const maxBytes = 2 ** 30;
/** Folders in folders: a path that is longer than the system takes could not be removed again by its name. */
const maxDepth = 128;
const maxProblems = 100;
const chunkBytes = 2 ** 20;

/**
 * Copies a folder with its links as they are and its modes; what is no file, folder or link is not opened. Resolves with what could
 * not be copied, one sentence each, none when the copy is whole.
 * @param target Must not be there.
 */
export async function copyFolder(
  source: string,
  target: string,
  options: CopyOptions = {},
): Promise<readonly string[]> {
  const { signal } = options;
  const left = { entries: options.maxEntries ?? maxEntries, bytes: options.maxBytes ?? maxBytes };
  const problems: string[] = [];
  const modes: { readonly path: string; readonly mode: number }[] = [];
  await copyFolderInto("", 0);
  // Last and innermost first: a folder that may not be written could not be filled.
  for (const { path, mode } of modes.reverse()) await chmod(path, mode);
  return problems;

  async function copyFolderInto(path: string, depth: number): Promise<void> {
    signal?.throwIfAborted();
    const { mode } = await lstat(join(source, path));
    await mkdir(join(target, path), { mode: 0o700 });
    modes.push({ path: join(target, path), mode: mode & 0o7777 });
    if (depth >= maxDepth) return note(path, `is nested deeper than ${maxDepth}`);
    for (const name of (await readdir(join(source, path))).sort()) {
      if (problems.length >= maxProblems) return;
      left.entries -= 1;
      if (left.entries < 0) return note(path, `holds entry ${(options.maxEntries ?? maxEntries) + 1} of the folder`);
      await tryCopy(join(path, name), depth);
    }
  }

  async function tryCopy(path: string, depth: number): Promise<void> {
    try {
      await copyEntry(path, depth);
    } catch (error) {
      signal?.throwIfAborted();
      // A name of other bytes was read as one that is not there.
      const isOther = path.includes("\u{fffd}");
      const why = isOther ? "its name is not UTF-8" : error instanceof Error ? error.message : String(error);
      note(path, `cannot be copied: ${why}`);
    }
  }

  async function copyEntry(path: string, depth: number): Promise<void> {
    const stat = await lstat(join(source, path));
    if (stat.isDirectory()) return copyFolderInto(path, depth + 1);
    if (stat.isSymbolicLink()) return symlink(await readlink(join(source, path)), join(target, path));
    const fault = stat.isFile() ? await copyFile(join(source, path), join(target, path), left, signal) : undefined;
    if (fault === "excess") return note(path, `goes over the ${options.maxBytes ?? maxBytes} bytes of a folder`);
    if (fault !== undefined) return note(path, fault);
    if (!stat.isFile()) note(path, `is a ${kindOf(stat)}, and neither a file, a folder nor a link`);
  }

  function note(path: string, what: string): void {
    problems.push(`${path === "" ? "the folder" : path} ${what}`);
  }
}

/**
 * Opened without following and without waiting: what was looked at may have been replaced meanwhile.
 * @returns what is wrong with it.
 */
async function copyFile(
  source: string,
  target: string,
  left: { bytes: number },
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const from = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await from.stat();
    if (!stat.isFile()) return "is no file any more";
    const to = await open(target, "wx", 0o600);
    try {
      const chunk = Buffer.alloc(Math.min(chunkBytes, stat.size + 1));
      for (;;) {
        signal?.throwIfAborted();
        const { bytesRead } = await from.read(chunk, 0, chunk.length, null);
        if (bytesRead === 0) break;
        left.bytes -= bytesRead;
        if (left.bytes < 0) return "excess";
        await to.write(chunk, 0, bytesRead);
      }
      await to.chmod(stat.mode & 0o7777);
      return undefined;
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

function kindOf(stat: Awaited<ReturnType<typeof lstat>>): string {
  if (stat.isFIFO()) return "named pipe";
  if (stat.isSocket()) return "socket";
  return "device";
}
