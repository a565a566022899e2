import { closeSync } from "node:fs";
import { join } from "node:path";
import { firstSequenceOf } from "./begin.js";
import type { Entry } from "./entry.js";
import { ChainError } from "./errors.js";
import { createFindings, type Findings } from "./findings.js";
import { watchFolder } from "./folder-watch.js";
import { readLine } from "./line.js";
import { createLineCutter, type StoredLine } from "./line-cutter.js";
import { createLinkCheck, type LinkCheck } from "./link-check.js";
import { openRegularFile } from "./regular-file.js";
import { readChunks, segmentNames } from "./segment-folder.js";
import { sha256 } from "./sha256.js";

/** How to read. */
export interface ReadOptions {
  /** First sequence number to yield; 0 and 1 mean all. Default 1. Segments before the one that holds it are not read. */
  readonly from?: number | undefined;
  /** After the last entry wait for more, until `signal` ends it. Default false. */
  readonly follow?: boolean | undefined;
  /** Ends the iteration with `signal.reason`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Entries in order, each with its hash and its link to the one before checked as it is read. Safe beside a live
 * writer: only whole lines count, and no lock is taken. Holds one chunk (256 KiB) and one line in memory.
 * @throws {ChainError} from the iteration: `OPTIONS_INVALID`, `LOG_DAMAGED` with its place, `READ_FAILED` with the system's error as its
 *   cause where there is one. Aborting throws `signal.reason`.
 */
export async function* readChain(directory: string, options: ReadOptions = {}): AsyncGenerator<Entry, void, undefined> {
  const { from = 1, follow = false, signal } = checked(options);
  const watch = follow ? watchFolder(directory) : undefined;
  const reader = createReader(directory, signal);
  try {
    for (;;) {
      for await (const entry of reader.rest(from)) if (entry.seq >= from) yield entry;
      if (watch === undefined) return;
      await watch.changed(signal);
    }
  } finally {
    watch?.close();
  }
}

const known: { readonly [Name in keyof ReadOptions]-?: true } = { from: true, follow: true, signal: true };

/** Refused rather than passed over: a misspelled option, or a number that is none, would read something else. */
function checked(options: ReadOptions): ReadOptions {
  for (const name of Object.keys(options)) {
    if (!(name in known)) throw new ChainError("OPTIONS_INVALID", `there is no option ${name}`);
  }
  const { from = 1 } = options;
  if (Number.isSafeInteger(from) && from >= 0) return options;
  throw new ChainError("OPTIONS_INVALID", `from is ${from}; it must be a whole number from 0`);
}

/** Reads what it has not read yet, any number of times. */
interface Reader {
  rest(from: number): AsyncGenerator<Entry, void, undefined>;
}

function createReader(directory: string, signal: AbortSignal | undefined): Reader {
  const findings = createFindings(1);
  const links = createLinkCheck({ partial: true }, findings);
  let current: string | undefined;
  let offset = 0;

  async function* readSegment(name: string, isLast: boolean): AsyncGenerator<Entry, void, undefined> {
    if (name !== current) {
      current = name;
      offset = 0;
      links.startSegment(name);
    }
    const cutter = createLineCutter(offset);
    for await (const chunk of chunksOf(directory, name, offset)) {
      signal?.throwIfAborted();
      for (const line of cutter.push(chunk)) {
        const entry = readEntry(name, line, links, findings);
        // Kept up after each line, so that a reader that comes again does not see one twice.
        offset = line.offset + line.bytes.length + 1;
        if (entry !== undefined) yield entry;
      }
    }
    const { bytes } = cutter.rest();
    if (isLast || (bytes.length === 0 && offset > 0)) return;
    const what = bytes.length === 0 ? "is empty" : "ends inside a line";
    throw damaged(name, offset, links.state.next, `the segment ${what}, and another follows`);
  }

  return {
    rest: async function* (from) {
      // Listed before the reading: of each but the last, all was written by then.
      const names = await segmentNames(directory);
      const start = current === undefined ? startOf(names, from) : names.indexOf(current);
      if (start === -1) throw new ChainError("READ_FAILED", `the segment ${current} is gone`);
      for (const name of names.slice(start)) {
        yield* readSegment(name, name === names.at(-1));
      }
    },
  };
}

/** Index of the segment that holds an entry, or of the first. */
function startOf(names: readonly string[], sequence: number): number {
  return Math.max(
    0,
    names.findLastIndex((name) => (firstSequenceOf(name) ?? 1) <= sequence),
  );
}

async function* chunksOf(directory: string, name: string, offset: number): AsyncGenerator<Uint8Array, void, undefined> {
  const opened = openRegularFile(join(directory, name));
  if ("refused" in opened) {
    const { refused, cause } = opened;
    throw new ChainError("READ_FAILED", `the segment ${name} cannot be read: ${refused}`, { cause });
  }
  try {
    yield* readChunks(opened.descriptor, offset);
  } finally {
    closeSync(opened.descriptor);
  }
}

function readEntry(name: string, line: StoredLine, links: LinkCheck, findings: Findings): Entry | undefined {
  const parts = readLine(line.bytes);
  if (parts === undefined) throw damaged(name, line.offset, links.state.next, "the line has not the form of an entry");
  const checked = links.line(parts, sha256(parts.body));
  const [problem] = findings.problems;
  if (problem !== undefined) throw damaged(name, line.offset, problem.seq, problem.message);
  return checked === undefined ? undefined : { ...checked.body, hash: checked.hash };
}

function damaged(segment: string, offset: number, sequence: number, what: string): ChainError {
  const place = { segment, offset, sequence };
  return new ChainError(
    "LOG_DAMAGED",
    `the log is damaged in ${segment} at byte ${offset}, entry ${sequence}: ${what}`,
    { place },
  );
}
