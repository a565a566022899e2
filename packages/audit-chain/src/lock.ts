import { closeSync, fdatasync, openSync, writeFileSync, writeSync } from "node:fs";
import { link } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ChainError, type LockOwner } from "./errors.js";
import type { TakeFlock } from "./flock.js";
import { draftName, highestLock, lockName, readLock, removeLock, tidyLocks } from "./lock-folder.js";
import { type LockRecord, readRecord, recordText, releasedOffset } from "./lock-record.js";
import { lifeOf } from "./owner.js";
import { openRegularFile } from "./regular-file.js";
import { systemCode } from "./system-code.js";

// How it works. Lock files are numbered: `lock-1`, `lock-2`, …. Whoever made the highest one owns the log, and may be
// followed only once it is released or proven dead, by making the next number with link(2), which exactly one of any
// number of contenders can do. No file is ever taken away from its name to be judged, so there is no moment at which
// a late contender could remove the lock of a live one. The highest number is never deleted; old ones are.

/** A lock that is held. */
export interface Lock {
  /** Lets others have it. May be called again. Throws the system's error when the file cannot be marked. */
  release(): void;
}

/** Who asks, and how. */
export interface LockParts {
  readonly self: LockOwner;
  readonly takeFlock: TakeFlock;
  readonly randomName: () => string;
}

const attempts = 100;

/**
 * Takes the lock of a folder.
 * @throws {ChainError} `LOCKED`, naming the owner where its record can be read. Else the system's error, unwrapped.
 */
export async function takeLock(directory: string, parts: LockParts): Promise<Lock> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const last = await highestLock(directory);
    if (last > 0) await judge(directory, last, parts);
    const lock = await tryNumber(directory, last + 1, parts);
    if (lock !== undefined) return lock;
  }
  throw new ChainError("LOCKED", `the log in ${directory} is contended: ${attempts} attempts to lock it met another`);
}

/** Refuses when the lock of this number is held; returns when it may be followed. */
async function judge(directory: string, number: number, parts: LockParts): Promise<void> {
  const path = join(directory, lockName(number));
  const text = readLock(path);
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

function describe({ pid, host, since }: LockOwner, directory: string, life: string): string {
  const doubt = life === "unknown" ? ", which cannot be looked for from here" : "";
  const who = `process ${pid} on ${escaped(host)} since ${escaped(since)}`;
  return `the log in ${directory} is written by ${who}${doubt}`;
}

/** A text of someone else's, for a terminal: control characters in a lock could rewrite what an operator sees. */
function escaped(text: string): string {
  return text.slice(0, 100).replaceAll(/[^ -~]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/**
 * Whether the file lock that the owner took for life is gone, and the owner with it: a proof across pid namespaces.
 * Not across kernels: what another machine has locked may not show here.
 */
async function flockIsFree(path: string, record: LockRecord, { self, takeFlock }: LockParts): Promise<boolean> {
  if (!record.flock || record.bootId === null || record.bootId !== self.bootId) return false;
  const opened = openRegularFile(path);
  if ("refused" in opened) return false;
  try {
    return (await takeFlock(opened.descriptor)) === true;
  } finally {
    closeSync(opened.descriptor);
  }
}

async function tryNumber(directory: string, number: number, parts: LockParts): Promise<Lock | undefined> {
  const draft = join(directory, draftName(parts.randomName()));
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
    await removeLock(draft);
  }
  return held ? heldLock(descriptor) : undefined;
}

const sync = promisify(fdatasync);

/** Gives the draft its number, and tidies; false when another came first. Leaves no number behind when it throws. */
async function claim(draft: string, directory: string, number: number): Promise<boolean> {
  const path = join(directory, lockName(number));
  try {
    await link(draft, path);
  } catch (error) {
    // ENOENT: an owner that was quicker tidied the draft away.
    if (["EEXIST", "ENOENT"].includes(systemCode(error) ?? "")) return false;
    throw error;
  }
  let isHighest = false;
  try {
    isHighest = (await highestLock(directory)) === number;
  } finally {
    // Also after an error (no descriptors left, say): nobody would release a number whose owner does not know of it.
    if (!isHighest) await removeLock(path);
  }
  if (isHighest) await tidyLocks(directory, number);
  return isHighest;
}

function heldLock(descriptor: number): Lock {
  let released = false;
  return {
    release: () => {
      if (released) return;
      released = true;
      try {
        writeSync(descriptor, "1", releasedOffset);
      } finally {
        closeSync(descriptor);
      }
    },
  };
}
