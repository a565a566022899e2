import { constants } from "node:fs";
import { link, mkdir, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { VenvHostError } from "../../errors.js";
import { readSmallFile } from "../small-file.js";
import { systemCode, unlessMissing } from "../system-fault.js";
import { lifeOf, type ProcessName, readProcessName, type Viewer } from "./process-name.js";

// Lock files are numbered. Whoever made the highest one holds the lock, and may be followed only once it is released or
// proven dead, by making the next number with link(2), which exactly one of any number of contenders can do. No file is
// taken away from its name to be judged, so a late contender cannot remove the lock of a live one. The highest number is
// never deleted.

/** A lock that is held. */
export interface BuildLock {
  release(): Promise<void>;
}

/** Who has a lock that could not be had. */
export interface LockHolder {
  /** Undefined: the file does not say. */
  readonly name: ProcessName | undefined;
  readonly isUnknown: boolean;
  readonly file: string;
}

const releasedOffset = '{"released":'.length;
const maxRecordBytes = 4_096;
// A contender that was stopped while it looked must not find its number free again.
const keptNumbers = 16;
// Nobody takes so many locks: whoever made it wrote it by hand, and no number would be left after it.
const highestNumber = 999_999_999_999_999;

/** Who holds the lock of this folder now; undefined: nobody, or one that is proven dead. */
export async function lookAtLock(folder: string, viewer: Viewer): Promise<LockHolder | undefined> {
  const highest = await highestLock(folder);
  return highest === 0 ? undefined : holderOf(join(folder, lockName(highest)), viewer);
}

/** Takes the lock unless somebody has it. Throws the system's errors, and `STORE_UNUSABLE`. */
export async function tryLock(folder: string, viewer: Viewer, random: () => string): Promise<BuildLock | LockHolder> {
  for (;;) {
    // In each turn: one that somebody removed would never give a lock.
    await makeFolder(folder);
    const last = await highestLock(folder);
    const holder = last === 0 ? undefined : await holderOf(join(folder, lockName(last)), viewer);
    if (holder !== undefined) return holder;
    if (last >= highestNumber) throw usedUp(join(folder, lockName(last)));
    const lock = await tryNumber(folder, last + 1, viewer, random);
    if (lock !== undefined) return lock;
  }
}

function usedUp(file: string): VenvHostError {
  const message = `the lock ${file} has a number that no lock of a store can have`;
  return new VenvHostError("STORE_UNUSABLE", message, { step: "lock", cure: `remove ${file}` });
}

/** Not recursive: on a file system that cannot be written, Node then says that something is not there. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (systemCode(error) !== "EEXIST") throw error;
  });
}

/** Whether `tryLock` gave a lock. */
export function isHeld(outcome: BuildLock | LockHolder): outcome is BuildLock {
  return "release" in outcome;
}

async function holderOf(file: string, viewer: Viewer): Promise<LockHolder | undefined> {
  const bytes = await unlessMissing(readSmallFile(file, maxRecordBytes));
  if (bytes === undefined) return undefined; // tidied away by a later one, whom the next look will find
  const text = bytes.toString("utf8");
  if (text.charAt(releasedOffset) === "1") return undefined;
  const name = readProcessName(text);
  const life = name === undefined ? "unknown" : lifeOf(name, viewer);
  return life === "dead" ? undefined : { name, isUnknown: life === "unknown", file };
}

async function tryNumber(
  folder: string,
  number: number,
  { self }: Viewer,
  random: () => string,
): Promise<BuildLock | undefined> {
  const draft = join(folder, `draft-${random()}`);
  const file = join(folder, lockName(number));
  try {
    // Written and synced before it has its name: nobody ever sees a lock that says less than it will.
    const handle = await open(draft, "wx", 0o600);
    try {
      await handle.writeFile(`${JSON.stringify({ released: 0, ...self })}\n`);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await link(draft, file);
  } catch (error) {
    // ENOENT: a holder that was quicker tidied the draft away.
    if (["EEXIST", "ENOENT"].includes(systemCode(error) ?? "")) return undefined;
    throw error;
  } finally {
    await remove(draft);
  }
  return confirmed(folder, number, file);
}

async function confirmed(folder: string, number: number, file: string): Promise<BuildLock | undefined> {
  const isHighest = (await highestLock(folder)) === number;
  if (!isHighest) {
    await remove(file);
    return undefined;
  }
  await tidy(folder, number);
  let releasing: Promise<void> | undefined;
  return { release: () => (releasing ??= markReleased(file)) };
}

/** Overwrites one byte, which needs no room on the disk. */
async function markReleased(file: string): Promise<void> {
  const handle = await unlessMissing(open(file, constants.O_WRONLY | constants.O_NONBLOCK));
  try {
    await handle?.write("1", releasedOffset);
  } finally {
    await handle?.close();
  }
}

async function highestLock(folder: string): Promise<number> {
  const names = (await unlessMissing(readdir(folder))) ?? [];
  return names.reduce((highest, name) => Math.max(highest, numberOf(name)), 0);
}

async function tidy(folder: string, own: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const number = numberOf(name);
    if (name.startsWith("draft-") || (number > 0 && number < own - keptNumbers)) await remove(join(folder, name));
  }
}

const lockName = (number: number): string => `lock-${number}`;

function numberOf(name: string): number {
  return /^lock-[1-9]\d{0,14}$/.test(name) ? Number(name.slice("lock-".length)) : 0;
}

async function remove(path: string): Promise<void> {
  await unlink(path).catch(() => {}); // litter at worst: nothing depends on its absence
}
