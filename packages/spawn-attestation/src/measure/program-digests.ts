import { AttestationError } from "../errors.js";
import { type BytePath, shown, toText } from "./byte-path.js";
import { hashFile } from "./hash-file.js";
import { busy, type Identity, isSame } from "./identity.js";
import type { MeasureContext } from "./tools.js";
import type { PathTrace } from "./trace.js";

/** Digests of single files, each read once for a measurement. */
export interface FileDigests {
  /** `sha256:` digest of the file at the end of a trace. */
  of(trace: PathTrace): string;
  /** All of them, by path. */
  readonly all: ReadonlyMap<string, string>;
}

/** A file changed longer ago than this is known by its identity: no later change can have left the same times. */
const settledNs = 1_000_000_000n;

/** Below this, reading is as quick as remembering. */
const smallBytes = 1_048_576;

/**
 * Hashes files, except large ones that were hashed before and have the same device, inode, size and times since.
 * @throws {AttestationError} as `hashFile`
 */
export function createFileDigests({ tools, known, learned }: MeasureContext): FileDigests {
  const all = new Map<string, string>();
  const measure = (path: BytePath, expected: Identity): string => {
    const key = keyOf(path, expected);
    const remembered = Number(expected.size) > smallBytes ? known.get(key) : undefined;
    if (remembered !== undefined) return remembered;
    const read = hashFile(path, { ...tools, codes: busy });
    if (!isSame(expected, read.identity)) throw swapped(path);
    if (read.bytes > smallBytes && tools.startedNs - expected.ctimeNs > settledNs) learned.set(key, read.hex);
    return read.hex;
  };
  const of = (trace: PathTrace): string => {
    const path = toText(trace.realPath);
    const digest = all.get(path) ?? `sha256:${measure(trace.realPath, trace.end)}`;
    all.set(path, digest);
    return digest;
  };
  return { of, all };
}

function keyOf(path: BytePath, { dev, ino, mode, size, mtimeNs, ctimeNs }: Identity): string {
  return `${dev} ${ino} ${mode} ${size} ${mtimeNs} ${ctimeNs} ${path}`;
}

function swapped(path: BytePath): AttestationError {
  return new AttestationError("FILE_CHANGED", `${shown(path)} was replaced while it was measured`, {
    advice: "try again when nothing writes to it",
  });
}
