import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { damaged } from "./failures.js";

// SQLite reads its write-ahead log up to the first frame whose checksum fails and quietly drops the rest: right for a
// write that a crash cut off, and a silent loss of acknowledged rows when a frame in the middle was damaged. This finds
// the second case. Format: sqlite.org/fileformat2.html § 4. The log carries no POSIX locks, so that opening and closing
// it here takes nothing from a connection of ours; the database file must never be opened by other means than SQLite.

const headerBytes = 32;
const frameHeaderBytes = 24;
const littleEndianMagic = 0x377f0682;
const bigEndianMagic = 0x377f0683;

const looks = 3;

type Sums = readonly [number, number];

/**
 * Refuses a log with whole commits behind a damaged one. Reads in constant memory. A log that is being restarted while
 * it is read gives no verdict.
 * @throws {LeaseError} `STORE_DAMAGED`
 */
export function checkWal(path: string): void {
  const descriptor = openIfThere(`${path}-wal`);
  if (descriptor === undefined) return;
  try {
    // A frame that its writer was writing while it was read, and more after it, look like damage once. Damage stays.
    for (let look = 1; ; look += 1) {
      const header = readAt(descriptor, 0, headerBytes);
      const fault = faultOf(descriptor, header);
      if (fault === undefined) return;
      const isSame = readAt(descriptor, 0, headerBytes).equals(header);
      if (look === looks && isSame) throw damaged(path, fault);
      if (look === looks) return;
    }
  } finally {
    closeSync(descriptor);
  }
}

function faultOf(descriptor: number, header: Buffer): string | undefined {
  const { size } = fstatSync(descriptor);
  if (size <= headerBytes) return undefined; // no frame was ever written
  const magic = header.readUInt32BE(0);
  const isKnown = magic === littleEndianMagic || magic === bigEndianMagic;
  const little = magic === littleEndianMagic;
  const sums = addTo([0, 0], header.subarray(0, 24), little);
  if (!isKnown || !hasSums(header, 24, sums)) return "the header of its write-ahead log is not whole";
  const pageBytes = header.readUInt32BE(8);
  if (pageBytes < 512 || pageBytes > 65_536) return "the header of its write-ahead log names no size of pages";
  return scanFrames({ descriptor, size, pageBytes, little, salts: header.subarray(16, 24) }, sums);
}

interface Log {
  readonly descriptor: number;
  readonly size: number;
  readonly pageBytes: number;
  readonly little: boolean;
  readonly salts: Buffer;
}

function scanFrames(log: Log, headerSums: Sums): string | undefined {
  const frameBytes = frameHeaderBytes + log.pageBytes;
  let sums: Sums | undefined = headerSums;
  let commitsLost = 0;
  for (let at = headerBytes; at + frameBytes <= log.size; at += frameBytes) {
    const frame = readAt(log.descriptor, at, frameBytes);
    const isCurrent = frame.subarray(8, 16).equals(log.salts);
    const isCommit = frame.readUInt32BE(4) !== 0;
    if (sums !== undefined) {
      const next: Sums = addTo(addTo(sums, frame.subarray(0, 8), log.little), frame.subarray(24), log.little);
      if (isCurrent && hasSums(frame, 16, next)) {
        sums = next;
        continue;
      }
      sums = undefined;
      if (isCommit) commitsLost += 1;
    } else if (isCommit && isCurrent) {
      // The first commit behind the bad frame may be the end of the write that was cut off, whose pages may reach the
      // disk in any order. A second one was acknowledged, or would not have been begun.
      commitsLost += 1;
      if (commitsLost > 1) return "its write-ahead log is damaged before its end, and later writes are behind it";
    }
  }
  return undefined;
}

function hasSums(bytes: Buffer, offset: number, [first, second]: Sums): boolean {
  return bytes.readUInt32BE(offset) === first && bytes.readUInt32BE(offset + 4) === second;
}

/** SQLite's checksum, over 32-bit words in the order of the machine that wrote. */
function addTo([first, second]: Sums, bytes: Buffer, little: boolean): Sums {
  let [s0, s1] = [first, second];
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    s0 = (s0 + (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)) + s1) >>> 0;
    s1 = (s1 + (little ? bytes.readUInt32LE(at + 4) : bytes.readUInt32BE(at + 4)) + s0) >>> 0;
  }
  return [s0, s1];
}

function readAt(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const count = readSync(descriptor, bytes, 0, length, position);
  return count === length ? bytes : bytes.fill(0, count); // it shrank meanwhile
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
