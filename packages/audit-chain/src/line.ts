import { isHex } from "./hex.js";

// The stored form of one line, both ways. README.md, "Format", describes it for others; nothing here needs Node.

/** What a line holds: the beginning of a segment, or an entry. */
export type LineKind = "begin" | "entry";

/** Longest canonical form that a line may carry: what a tlog-tiles entry bundle can hold. */
export const maxBodyBytes = 65_535;

// Both kinds have five letters, so that the body stands at the same place in every line.
const headLength = '{"entry":'.length;
const hashLength = 64;
const closingBrace = 0x7d;
const tailLength = ',"hash":"'.length + hashLength + '"}'.length;

/** Bytes that a line adds to its body, the line feed included. */
export const lineOverhead: number = headLength + tailLength + 1;
/** Longest line without its line feed. */
export const maxLineBytes: number = headLength + maxBodyBytes + tailLength;

/** What the first line of a log links to. */
export const noHash: string = "0".repeat(hashLength);
/** The form of every hash in a log. */
export const hashForm: RegExp = /^[0-9a-f]{64}$/;

/** A line as it is stored. `body` is canonical, `hash` the lower-case hex SHA-256 of its UTF-8 bytes. */
export function lineText(kind: LineKind, body: string, hash: string): string {
  return `{"${kind}":${body},"hash":"${hash}"}\n`;
}

/** A line taken apart by position alone; nothing in it was parsed. */
export interface LineParts {
  readonly kind: LineKind;
  /** The bytes that are hashed; a view. */
  readonly body: Uint8Array;
  /** The hash that the line claims, as 64 hex digits; a view. */
  readonly hash: Uint8Array;
}

/** Takes a line apart; undefined when it has not the form of one. */
export function readLine(line: Uint8Array): LineParts | undefined {
  const bodyEnd = line.length - tailLength;
  if (bodyEnd <= headLength || line.length > maxLineBytes) return undefined;
  const kind = kindOf(line);
  if (kind === undefined || !holdsAt(line, bodyEnd, ',"hash":"') || !holdsAt(line, line.length - 2, '"}'))
    return undefined;
  const hash = line.subarray(line.length - 2 - hashLength, line.length - 2);
  return isHex(hash) ? { kind, body: line.subarray(headLength, bodyEnd), hash } : undefined;
}

/** Whether bytes without a line feed can be what a crash left of a line: the beginning of one. */
export function isLineStart(tail: Uint8Array): boolean {
  return beginsAs(tail, '{"entry":') || beginsAs(tail, '{"begin":');
}

/**
 * Beginnings of `tail` that have the form of a whole line and have something behind them. If the hash of one holds,
 * the tail is no torn line, but a line whose line feed was overwritten.
 */
export function* wholeLinesIn(tail: Uint8Array): Generator<LineParts, void, undefined> {
  for (let end = headLength + tailLength; end < tail.length; end += 1) {
    const parts = tail[end - 1] === closingBrace ? readLine(tail.subarray(0, end)) : undefined;
    if (parts !== undefined) yield parts;
  }
}

function kindOf(line: Uint8Array): LineKind | undefined {
  if (beginsAs(line, '{"entry":')) return "entry";
  return beginsAs(line, '{"begin":') ? "begin" : undefined;
}

/** Whether the bytes and the text agree as far as both go. */
function beginsAs(bytes: Uint8Array, text: string): boolean {
  const length = Math.min(bytes.length, text.length);
  for (let index = 0; index < length; index += 1) if (bytes[index] !== text.charCodeAt(index)) return false;
  return true;
}

function holdsAt(bytes: Uint8Array, offset: number, text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (bytes[offset + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}
