import { chmod, lstat, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { isRefusal, unlessMissing } from "./system-fault.js";

/** Removes a folder with all that is in it, also with folders that what was installed closed to their owner. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    await openFolders(path);
    await rm(path, { recursive: true, force: true });
  }
}

/** Gives a folder another name and parent, for which it must be writable itself. */
export async function moveTree(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!isRefusal(error) || !(await lstat(from)).isDirectory()) throw error;
    await chmod(from, 0o700);
    await rename(from, to);
  }
}

/** Links are not followed. What vanishes meanwhile needs nothing any more. */
async function openFolders(path: string): Promise<void> {
  const folders = (await unlessMissing(lstat(path)))?.isDirectory() === true ? [path] : [];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    await unlessMissing(chmod(folder, 0o700));
    for (const entry of (await unlessMissing(readdir(folder, { withFileTypes: true }))) ?? []) {
      if (entry.isDirectory()) folders.push(join(folder, entry.name));
    }
  }
}
