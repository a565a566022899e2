import { type BeginRecord, currentFormat, segmentName } from "./begin.js";
import { type CanonicalRules, canonicalText } from "./canonical.js";
import type { ChainSettings } from "./chain-settings.js";
import type { EntryInput, Head, Receipt } from "./entry.js";
import { entryRules, entryText } from "./entry-body.js";
import { ChainError } from "./errors.js";
import { lineOverhead, lineText, noHash } from "./line.js";
import type { LinkState } from "./link-state.js";
import { createMemberOrders } from "./member-order.js";
import { sha256Hex } from "./sha256.js";
import { type Reading, readClocks, readingOf } from "./time.js";

/** A piece of the log that is ready to be written. */
interface Stored {
  readonly text: string;
  readonly byteLength: number;
}

/** An entry with its number, and the beginning of a new segment that must be written before it, if there is one. */
export interface Sequenced extends Stored {
  readonly receipt: Receipt;
  readonly begun: NewSegment | undefined;
}

/** The beginning of a segment, for a file of this name. */
export interface NewSegment extends Stored {
  readonly name: string;
}

/** Gives entries their number, time, link and hash. Holds the place in the log, and does no I/O. */
export interface Sequencer {
  /** The last entry that was given out, or where the log stood. */
  readonly head: Head;
  /** @throws {ChainError} `ENTRY_INVALID`, `NOT_I_JSON`, `ENTRY_TOO_LARGE`; the place is then as before. */
  next(input: EntryInput): Sequenced;
  /** Begins the next segment. */
  begin(): NewSegment;
}

interface EntryTerms {
  readonly maxEntryBytes: number;
  readonly rules: CanonicalRules;
}

interface Added {
  readonly stored: Stored;
  readonly receipt: Receipt;
  readonly position: Position;
}

interface Position {
  readonly next: number;
  readonly segment: number;
  readonly prev: string;
  /** Bytes in the segment, once all that was given out is written. */
  readonly size: number;
  readonly before: Reading | undefined;
}

/** Goes on where a log stands; `segmentBytes` is the size of its last segment. */
export function createSequencer(settings: ChainSettings, from: LinkState, segmentBytes: number): Sequencer {
  const { clocks, logId, maxEntryBytes, maxSegmentBytes } = settings;
  const terms: EntryTerms = { maxEntryBytes, rules: { ...entryRules, orderOf: createMemberOrders() } };
  let position: Position = {
    next: from.next,
    segment: from.segment,
    prev: from.links?.[0] ?? noHash,
    size: segmentBytes,
    before: from.lastTime === undefined ? undefined : readingOf(from.lastTime),
  };

  return {
    get head() {
      return { sequence: position.next - 1, hash: position.prev };
    },
    begin: () => {
      const { time } = readClocks(clocks, position.before);
      const begun = beginSegment(position, logId, time);
      position = begun.position;
      return begun.segment;
    },
    next: (input) => {
      const reading = readClocks(clocks, position.before);
      // Decided before the entry's length is known, since the beginning of a segment changes what the entry links to.
      const isFull = position.size + maxEntryBytes + lineOverhead > maxSegmentBytes;
      const begun = isFull ? beginSegment(position, logId, reading.time) : undefined;
      const entry = addEntry(begun?.position ?? position, input, reading, terms);
      // Only now: an entry that was refused must leave no trace, and no beginning of a segment either.
      position = entry.position;
      return { ...entry.stored, receipt: entry.receipt, begun: begun?.segment };
    },
  };
}

function beginSegment(at: Position, logId: string, time: string): { position: Position; segment: NewSegment } {
  const segment = at.segment + 1;
  const record: BeginRecord = {
    format: currentFormat,
    algorithm: "sha256",
    logId,
    prev: at.prev,
    segment,
    seq: at.next,
    time,
  };
  const body = canonicalText(record, { maxDepth: 1 });
  const hash = sha256Hex(body);
  const text = lineText("begin", body, hash);
  // All of it is ASCII: one byte a character.
  const stored = { text, byteLength: text.length };
  const position = { ...at, segment, prev: hash, size: stored.byteLength };
  return { position, segment: { ...stored, name: segmentName(at.next) } };
}

function addEntry(at: Position, input: EntryInput, reading: Reading, { maxEntryBytes, rules }: EntryTerms): Added {
  const { time, clock } = reading;
  const body = entryText(input, { seq: at.next, prev: at.prev, time, clock }, rules);
  const bodyBytes = Buffer.byteLength(body);
  if (bodyBytes > maxEntryBytes) {
    throw new ChainError(
      "ENTRY_TOO_LARGE",
      `the entry has ${bodyBytes} bytes in canonical form; the limit is ${maxEntryBytes}`,
    );
  }
  const hash = sha256Hex(body);
  const stored = { text: lineText("entry", body, hash), byteLength: bodyBytes + lineOverhead };
  return {
    stored,
    receipt: { sequence: at.next, hash, time },
    position: { ...at, next: at.next + 1, prev: hash, size: at.size + stored.byteLength, before: reading },
  };
}
