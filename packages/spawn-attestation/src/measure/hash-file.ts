import { createHash, hash } from "node:crypto";
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { AttestationError } from "../errors.js";
import { type BytePath, shown, toBuffer } from "./byte-path.js";
import { atPath, type FaultCodes, type Identity, identityOf, isSame } from "./identity.js";

/** What one file held, and by which it is known again. */
export interface HashedFile {
  /** Lower-case hexadecimal SHA-256. */
  readonly hex: string;
  readonly identity: Identity;
  readonly bytes: number;
}

/** How a file is read. */
export interface ReadPlan {
  readonly codes: FaultCodes;
  readonly maxFileBytes: number;
  /** Reused for every file; a file that fits is read and hashed in one step. */
  readonly buffer: Buffer;
  /** Receives exactly the bytes that are hashed, in order; used to copy while hashing. */
  readonly sink?: ((chunk: Uint8Array) => void) | undefined;
}

// Not followed: the path was resolved before. Not blocking: a FIFO put in the file's place must not hold the thread.
const openFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * SHA-256 of a regular file, through one descriptor whose identity is compared before and after.
 * Synchronous on purpose: for small files streams and promises cost ten to forty times as much (bench/measure.bench.mjs).
 * @throws {AttestationError} `TARGET_NOT_A_FILE`, `FILE_TOO_LARGE`, `FILE_CHANGED`, `UNREADABLE`, `codes.missing`.
 */
export function hashFile(path: BytePath, plan: ReadPlan): HashedFile {
  const descriptor = atPath(path, plan.codes, () => openSync(toBuffer(path), openFlags));
  try {
    const before = fstatSync(descriptor, { bigint: true });
    refuseUnfit(path, before, plan.maxFileBytes);
    const size = Number(before.size);
    const hex = atPath(path, plan.codes, () => hashOpen(descriptor, size, plan)) ?? changed(path);
    const identity = identityOf(before);
    if (!isSame(identity, identityOf(fstatSync(descriptor, { bigint: true })))) changed(path);
    return { hex, identity, bytes: size };
  } finally {
    closeSync(descriptor);
  }
}

function refuseUnfit(path: BytePath, stat: BigIntStats, maxFileBytes: number): void {
  if (!stat.isFile()) {
    throw new AttestationError("TARGET_NOT_A_FILE", `${shown(path)} is not a regular file`, {
      advice: "name a regular file in command, args and measureTarget",
    });
  }
  if (stat.size <= BigInt(maxFileBytes)) return;
  throw new AttestationError("FILE_TOO_LARGE", `${shown(path)} has ${stat.size} bytes; the limit is ${maxFileBytes}`, {
    advice: "raise limits.maxFileBytes, or leave the file out with measureIgnore",
  });
}

function changed(path: BytePath): never {
  throw new AttestationError("FILE_CHANGED", `${shown(path)} changed while it was read`, {
    advice: "try again when nothing writes to it, or leave it out with measureIgnore",
  });
}

/** Undefined when the file holds more or fewer bytes than its size said: somebody is writing it, or it is no real file. */
function hashOpen(descriptor: number, size: number, plan: ReadPlan): string | undefined {
  const { buffer, sink } = plan;
  const digest = size < buffer.length ? undefined : createHash("sha256");
  let total = 0;
  for (;;) {
    const start = digest === undefined ? total : 0;
    const count = readSync(descriptor, buffer, start, buffer.length - start, null);
    const chunk = buffer.subarray(start, start + count);
    if (count === 0) break;
    total += count;
    if (total > size) return undefined;
    digest?.update(chunk);
    sink?.(chunk);
  }
  if (total !== size) return undefined;
  return digest === undefined ? hash("sha256", buffer.subarray(0, total), "hex") : digest.digest("hex");
}
