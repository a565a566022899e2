import { lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { isMissing, unlessMissing } from "../system-fault.js";

// As in check-files.ts: by way of the thread pool they would take a good part of the time of a build.
const filesPerTurn = 500;

/** Bytes that a folder takes, links not followed; what vanishes meanwhile counts for nothing. Stops above `enough`. */
export async function folderSize(path: string, enough: number, signal?: AbortSignal): Promise<number> {
  let bytes = 0;
  let seen = 0;
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined && bytes <= enough; folder = folders.pop()) {
    signal?.throwIfAborted();
    for (const entry of (await unlessMissing(readdir(folder, { withFileTypes: true }))) ?? []) {
      const inner = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(inner);
      else bytes += sizeOnDisk(inner);
      seen += 1;
      if (seen % filesPerTurn === 0) await turn();
    }
  }
  return bytes;
}

/** In blocks of 512 bytes, as on every system that Node knows: holes cost nothing. */
function sizeOnDisk(file: string): number {
  try {
    return lstatSync(file).blocks * 512;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}
