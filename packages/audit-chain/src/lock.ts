import { closeSync, fdatasync, openSync, writeFileSync, writeSync } from "node:fs";
import { link, readdir, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ChainError, type LockOwner } from "./errors.js";
import type { TakeFlock } from "./flock.js";
import { type LockRecord, readRecord, recordText, releasedOffset } from "./lock-record.js";
import { lifeOf } from "./owner.js";

// How it works. Lock files are numbered: `lock-1`, `lock-2`, …. Whoever made the highest one owns the log, and may be
// followed only once it is released or proven dead, by making the next number with link(2), which exactly one of any
// number of contenders can do. No file is ever taken away from its name to be judged, so there is no moment at which
// a late contender could remove the lock of a live one. The highest number is never deleted; old ones are.

/** A lock that is held. */
export interface Lock {
  /** Lets others have it. May be called again. */
  release(): void;
}

/** Who asks, and how. */
export interface LockParts {
  readonly self: LockOwner;
  readonly takeFlock: TakeFlock;
  readonly randomName: () => string;
}

// Numbers below the owner's that stay: a contender that was stopped while looking must not find its number free again.
const keptNumbers = 16;
const attempts = 100;

/**
 * Takes the lock of a folder.
 * @throws {ChainError} `LOCKED`, naming the owner.
 */
export async function takeLock(directory: string, parts: LockParts): Promise<Lock> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const last = highest(await lockNumbers(directory));
    if (last > 0) await judge(directory, last, parts);
    const lock = await tryNumber(directory, last + 1, parts);
    if (lock !== undefined) return lock;
  }
  throw new ChainError("LOCKED", `the log in ${directory} is contended: ${attempts} attempts to lock it met another`);
}

/** Refuses when the lock of this number is held; returns when it may be followed. */
async function judge(directory: string, number: number, parts: LockParts): Promise<void> {
  const path = join(directory, lockName(number));
  const text = await readFile(path, "utf8").catch(unlessGone);
  if (text === undefined) return; // tidied away by a later owner, whom the next look will find
  const record = readRecord(text);
  if (record === undefined) {
    throw new ChainError("LOCKED", `the lock ${path} does not say who holds it; remove it if nothing writes there`);
  }
  if (record.released) return;
  const life = await lifeOf(record, parts.self, directory);
  if (life === "dead" || (life === "unknown" && (await flockIsFree(path, record, parts)))) return;
  const { released: _released, flock: _flock, ...owner } = record;
  throw new ChainError("LOCKED", describe(owner, directory, life), { owner });
}

function describe(owner: LockOwner, directory: string, life: string): string {
  const doubt = life === "unknown" ? ", which cannot be looked for from here" : "";
  return `the log in ${directory} is written by process ${owner.pid} on ${owner.host} since ${owner.since}${doubt}`;
}

/**
 * Whether the file lock that the owner took for life is gone, and the owner with it: a proof across pid namespaces.
 * Not across kernels: what another machine has locked may not show here.
 */
async function flockIsFree(path: string, record: LockRecord, { self, takeFlock }: LockParts): Promise<boolean> {
  if (!record.flock || record.bootId === null || record.bootId !== self.bootId) return false;
  const descriptor = openSync(path, "r");
  try {
    return (await takeFlock(descriptor)) === true;
  } finally {
    closeSync(descriptor);
  }
}

async function tryNumber(directory: string, number: number, parts: LockParts): Promise<Lock | undefined> {
  const draft = join(directory, `lock-new-${parts.randomName()}`);
  // A plain descriptor: a FileHandle that nobody refers to any more is closed by the collector, and the flock with it.
  const descriptor = openSync(draft, "wx", 0o600);
  let held = false;
  try {
    // Locked, written and synced before it has its name: no one ever sees a lock that says less than it will.
    const flock = (await parts.takeFlock(descriptor)) === true;
    writeFileSync(descriptor, recordText(parts.self, flock));
    await sync(descriptor);
    held = await claim(draft, directory, number);
  } finally {
    if (!held) closeSync(descriptor);
    await remove(draft);
  }
  if (!held) return undefined;
  await tidy(directory, number);
  let released = false;
  return {
    release: () => {
      if (!released) release(descriptor);
      released = true;
    },
  };
}

const sync = promisify(fdatasync);

/** Gives the draft its number; false when another came first. */
async function claim(draft: string, directory: string, number: number): Promise<boolean> {
  const path = join(directory, lockName(number));
  try {
    await link(draft, path);
  } catch (error) {
    // ENOENT: an owner that was quicker tidied the draft away.
    if (hasCode(error, "EEXIST") || hasCode(error, "ENOENT")) return false;
    throw error;
  }
  if (highest(await lockNumbers(directory)) === number) return true;
  await remove(path);
  return false;
}

function release(descriptor: number): void {
  try {
    writeSync(descriptor, "1", releasedOffset);
  } finally {
    closeSync(descriptor);
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;

function unlessGone(error: unknown): undefined {
  if (!hasCode(error, "ENOENT")) throw error;
}

async function tidy(directory: string, own: number): Promise<void> {
  for (const name of await readdir(directory)) {
    const number = numberOf(name);
    if (name.startsWith("lock-new-") || (number !== undefined && number < own - keptNumbers)) {
      await remove(join(directory, name));
    }
  }
}

async function remove(path: string): Promise<void> {
  await unlink(path).catch(() => {}); // litter at worst: nothing depends on its absence
}

const lockName = (number: number): string => `lock-${number}`;

function numberOf(name: string): number | undefined {
  return /^lock-[1-9]\d{0,14}$/.test(name) ? Number(name.slice("lock-".length)) : undefined;
}

const highest = (numbers: readonly number[]): number => Math.max(0, ...numbers);

async function lockNumbers(directory: string): Promise<readonly number[]> {
  return (await readdir(directory)).map(numberOf).filter((number) => number !== undefined);
}
