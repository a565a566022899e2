import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { unlessMissing } from "../system-fault.js";

/** Bytes that a folder takes, links not followed; what vanishes meanwhile counts for nothing. Stops above `enough`. */
export async function folderSize(path: string, enough: number, signal?: AbortSignal): Promise<number> {
  let bytes = 0;
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined && bytes <= enough; folder = folders.pop()) {
    signal?.throwIfAborted();
    for (const entry of (await unlessMissing(readdir(folder, { withFileTypes: true }))) ?? []) {
      const inner = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(inner);
      // In blocks of 512 bytes, as on every system that Node knows: holes cost nothing.
      else bytes += ((await unlessMissing(lstat(inner)))?.blocks ?? 0) * 512;
    }
  }
  return bytes;
}
