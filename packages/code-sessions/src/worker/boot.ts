import type { SessionTerms } from "../session-terms.js";
import type { WorkerSource } from "../worker-source.js";

/** Reads the entry from descriptor 0 and runs it. Not the entry itself: one argument holds at most 128 KiB. */
const bootLine = [
  "import os",
  "def read(size):",
  " held=b''",
  " while len(held)<size:",
  "  chunk=os.read(0,size-len(held))",
  "  if not chunk:os._exit(125)",
  "  held+=chunk",
  " return held",
  "exec(compile(read(int(read(8))),'<berth_worker.boot>','exec',0,True))",
].join("\n");

/**
 * The interpreter apart from the caller's world: no variables, no user's packages, no current folder (`-I`); `site` only
 * when the worker is up (`-S`); what C libraries print leaves at once (`-u`).
 */
export function workerArgv(interpreter: string): readonly string[] {
  return [interpreter, "-I", "-S", "-u", "-X", "utf8", "-c", bootLine];
}

/** Text of a last expression's value, in characters. More is cut, and says so. */
export const maxResultChars = 1_048_576;

const mib = 1_048_576;

/** The largest frame that the worker may send: a display, an answer or a piece of output. */
export function frameBytes(terms: SessionTerms): number {
  return Math.min(64 * mib, 16 * mib + 2 * terms.maxDisplayBytes);
}

/** What goes to descriptor 0 before the first frame. */
export function bootBytes(source: WorkerSource, terms: SessionTerms, workspace: string): Uint8Array {
  const settings = {
    workspace,
    packages: `${workspace}/.berth/packages`,
    maxOutputBytes: terms.maxOutputBytes,
    maxSpillBytes: terms.maxSpillBytes,
    maxDisplayBytes: terms.maxDisplayBytes,
    maxFileBytes: terms.maxFileBytes,
    maxResultChars,
    frameBytes: frameBytes(terms),
  };
  const parts = [source.entry, JSON.stringify({ sources: source.modules, settings })];
  return Buffer.concat(parts.flatMap((part) => [Buffer.from(lengthOf(part)), Buffer.from(part)]));
}

function lengthOf(part: string): string {
  return String(Buffer.byteLength(part)).padStart(8, "0");
}
