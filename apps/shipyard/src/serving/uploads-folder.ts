import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { ShipyardError } from "../errors.js";

/**
 * Makes the folder itself (0700) where it is absent, never one above it: a path that was mistyped would be a tree that nobody looks
 * into, and code would not see what its owner had put elsewhere.
 * @throws {ShipyardError} `STATE_UNUSABLE`
 */
export async function makeUploadsFolder(path: string): Promise<string> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (cause) {
    if (await isFolder(path)) return path;
    const isLost = !(await isFolder(dirname(path)));
    const lines = isLost ? [`there is no folder ${dirname(path)}: make it, or correct --uploads`] : [];
    throw new ShipyardError("STATE_UNUSABLE", `the uploads folder ${path} cannot be made`, { cause, lines });
  }
  return path;
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined); // what cannot be seen is no folder to us
  return found?.isDirectory() === true;
}
