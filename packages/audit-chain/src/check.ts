import type { BracketCheck } from "./brackets.js";
import type { Findings } from "./findings.js";
import { isHashOf } from "./hex.js";
import { isLineStart, maxLineBytes, readLine, wholeLinesIn } from "./line.js";
import { createLineCutter, type StoredLine } from "./line-cutter.js";
import type { CheckedEntry, LinkCheck } from "./link-check.js";

/** One segment's bytes, in order. */
export interface SegmentSource {
  /** Shown in findings. A name of 16 digits and `.jsonl` must be the sequence number that the segment begins with. */
  readonly name: string;
  /** The bytes, cut anywhere. */
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Why the bytes must not be read; they are then not. */
  readonly refused?: string | undefined;
}

/** SHA-256, wherever it comes from. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array | Promise<Uint8Array>;

/** What a check of whole segments needs. */
export interface CheckParts {
  readonly segments: AsyncIterable<SegmentSource> | Iterable<SegmentSource>;
  readonly sha256: Sha256;
  readonly links: LinkCheck;
  readonly brackets: BracketCheck | undefined;
  readonly findings: Findings;
  readonly signal?: AbortSignal | undefined;
}

/** What stands after the last line feed of a segment: a piece of a line, or the place where one is due. */
export interface Tail {
  readonly segment: string;
  readonly line: StoredLine;
}

/** What a check of whole segments saw, beside its findings. */
export interface Checked {
  readonly segments: number;
  readonly entries: number;
  readonly last: CheckedEntry | undefined;
  /** Where the last segment's last whole line ends, and what is behind it. */
  readonly tail: Tail | undefined;
}

/** Runs every line of every segment through the checks. */
export async function checkSegments(parts: CheckParts): Promise<Checked> {
  const { findings, links, signal } = parts;
  let checked: Checked = { segments: 0, entries: 0, last: undefined, tail: undefined };
  for await (const segment of parts.segments) {
    signal?.throwIfAborted();
    if (checked.tail !== undefined) reportInnerTail(checked.tail, parts);
    links.startSegment(segment.name);
    findings.at(segment.name, 0);
    if (segment.refused === undefined) checked = await checkSegment(segment, checked, parts);
    else {
      findings.problem("SEGMENT_REFUSED", links.state.next, segment.refused);
      links.unreadable();
      checked = { ...checked, tail: undefined };
    }
    checked = { ...checked, segments: checked.segments + 1 };
  }
  if (checked.tail !== undefined) await reportLastTail(checked.tail, parts);
  return checked;
}

async function checkSegment(segment: SegmentSource, before: Checked, parts: CheckParts): Promise<Checked> {
  const { brackets, findings, links, sha256, signal } = parts;
  const cutter = createLineCutter();
  let { entries, last } = before;
  for await (const chunk of segment.chunks) {
    signal?.throwIfAborted();
    for (const line of cutter.push(chunk)) {
      findings.at(segment.name, line.offset);
      const found = readLine(line.bytes);
      if (found === undefined) {
        reportLine(line, parts);
        continue;
      }
      const made = sha256(found.body);
      // Awaited only when it must be: a turn of the event loop for each line would cost more than the hash.
      const entry = links.line(found, made instanceof Uint8Array ? made : await made);
      if (entry === undefined) continue;
      entries += 1;
      last = entry;
      brackets?.entry(entry.body);
    }
  }
  return { segments: before.segments, entries, last, tail: { segment: segment.name, line: cutter.rest() } };
}

function reportLine(line: StoredLine, { findings, links }: CheckParts): void {
  const { next } = links.state;
  if (line.tooLong) findings.problem("LINE_TOO_LONG", next, `the line has more than ${maxLineBytes} bytes`);
  else findings.problem("LINE_MALFORMED", next, "the line has not the form of an entry or of a beginning");
  links.unreadable();
}

function reportInnerTail({ segment, line }: Tail, { findings, links }: CheckParts): void {
  findings.at(segment, line.offset);
  const { next } = links.state;
  if (line.offset === 0 && isEmpty(line)) {
    findings.problem("BEGIN_MISSING", next, "the segment is empty, and another follows");
  } else if (!isEmpty(line)) {
    findings.problem("TAIL_DAMAGED", next, "the segment ends inside a line, and another follows");
    links.unreadable();
  }
}

async function reportLastTail({ segment, line }: Tail, parts: CheckParts): Promise<void> {
  const { findings, links } = parts;
  findings.at(segment, line.offset);
  if (isEmpty(line) && line.offset > 0) return;
  const { next } = links.state;
  if (line.tooLong || !isLineStart(line.bytes) || (await holdsWholeLine(line.bytes, parts.sha256))) {
    findings.problem("TAIL_DAMAGED", next, "what stands after the last whole line is no piece of a line");
  } else {
    findings.notice(
      "TORN_TAIL",
      next,
      `the last record is torn after ${line.bytes.length} bytes: its writer ended there`,
    );
  }
}

async function holdsWholeLine(tail: Uint8Array, sha256: Sha256): Promise<boolean> {
  for (const { body, hash } of wholeLinesIn(tail)) {
    if (isHashOf(hash, await sha256(body))) return true;
  }
  return false;
}

const isEmpty = (line: StoredLine): boolean => line.bytes.length === 0 && !line.tooLong;
