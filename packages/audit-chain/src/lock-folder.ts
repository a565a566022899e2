import { closeSync, readSync } from "node:fs";
import { readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { openRegularFile } from "./regular-file.js";
import { systemCode } from "./system-code.js";

// Numbers below the owner's that stay: a contender that was stopped while looking must not find its number free again.
const keptNumbers = 16;

/** Name of a draft, which a lock is until it has its number. `id` is random. */
export const draftName = (id: string): string => `lock-new-${id}`;

/** Name of the lock with a number. */
export const lockName = (number: number): string => `lock-${number}`;

/** The number in a lock's name, from 1 to 15 digits; undefined for other names. */
export function lockNumberOf(name: string): number | undefined {
  return /^lock-[1-9]\d{0,14}$/.test(name) ? Number(name.slice("lock-".length)) : undefined;
}

/** The highest number in a folder; 0 when it has no lock. */
export async function highestLock(directory: string): Promise<number> {
  // Not Math.max over all of them: a folder may hold more names than a call may have arguments.
  return (await readdir(directory)).reduce((highest, name) => Math.max(highest, lockNumberOf(name) ?? 0), 0);
}

/** Removes drafts, and locks that are far enough below the owner's number, as far as that is possible. */
export async function tidyLocks(directory: string, own: number): Promise<void> {
  const names = await readdir(directory).catch(() => []); // as for removeLock
  for (const name of names) {
    const number = lockNumberOf(name);
    if (name.startsWith(draftName("")) || (number !== undefined && number < own - keptNumbers)) {
      await removeLock(join(directory, name));
    }
  }
}

/** Removes a lock's file, if it can be removed. */
export async function removeLock(path: string): Promise<void> {
  await unlink(path).catch(() => {}); // litter at worst: nothing depends on its absence
}

// A record has a few hundred bytes.
const maxRecordBytes = 4_096;

/** What stands in a lock's file: at most 4,096 bytes of it. Empty when it is no file; undefined when it is gone. */
export function readLock(path: string): string | undefined {
  const opened = openRegularFile(path);
  if ("refused" in opened) {
    if (opened.cause === undefined) return "";
    if (systemCode(opened.cause) === "ENOENT") return undefined;
    throw opened.cause;
  }
  try {
    const buffer = Buffer.alloc(maxRecordBytes);
    return buffer.toString("utf8", 0, readSync(opened.descriptor, buffer, 0, maxRecordBytes, 0));
  } finally {
    closeSync(opened.descriptor);
  }
}
