import { CLOSE_BRACE, COLON, COMMA, QUOTE, skipWhiteSpace } from "./json-bytes.js";
import { notJson, skipValue } from "./json-skip.js";
import { endOfString, findName } from "./json-string.js";
import type { Span } from "./span.js";

/** Finds the end of the value at a place: `skipValue`, or `checkValue` to have all of its grammar checked. */
export type SkipValue = (bytes: Buffer, at: number, end: number) => number;

/** A place in an object while its members are read one after another. */
export interface MemberCursor {
  readonly bytes: Buffer;
  readonly end: number;
  readonly skip: SkipValue;
  /** Where reading goes on. */
  at: number;
  /** The key, quotes included; its grammar is checked. */
  keyStart: number;
  keyEnd: number;
  valueStart: number;
  valueEnd: number;
}

/** A cursor before the first member of the object whose brace is at `start`. */
export function openObject(bytes: Buffer, start: number, end: number, skip: SkipValue = skipValue): MemberCursor {
  return { bytes, end, skip, at: start, keyStart: 0, keyEnd: 0, valueStart: 0, valueEnd: 0 };
}

/** Moves to the next member; false after the closing brace, with `at` behind it. */
export function nextMember(cursor: MemberCursor): boolean {
  if (!nextKey(cursor)) return false;
  endValue(cursor, cursor.skip(cursor.bytes, cursor.valueStart, cursor.end));
  return true;
}

/** As `nextMember`, but leaves the value to the caller, who says with `endValue` where it ends. */
export function nextKey(cursor: MemberCursor): boolean {
  const { bytes, end } = cursor;
  const first = cursor.valueEnd === 0;
  let i = skipWhiteSpace(bytes, first ? cursor.at + 1 : cursor.at, end);
  if (i < end && bytes[i] === CLOSE_BRACE) {
    cursor.at = i + 1;
    return false;
  }
  if (!first) i = skipWhiteSpace(bytes, expect(cursor, i, COMMA, "a comma or a closing brace"), end);
  const keyEnd = i < end && bytes[i] === QUOTE ? endOfString(bytes, i, end) : -1;
  if (keyEnd === -1) throw notJson(i, "a key was expected");
  cursor.keyStart = i;
  cursor.keyEnd = keyEnd;
  i = expect(cursor, skipWhiteSpace(bytes, keyEnd, end), COLON, "a colon");
  cursor.valueStart = skipWhiteSpace(bytes, i, end);
  return true;
}

/** Says where the value ends that `nextKey` found. */
export function endValue(cursor: MemberCursor, end: number): void {
  cursor.valueEnd = end;
  cursor.at = end;
}

/** The value that `nextKey` or `nextMember` found. */
export function valueSpan(cursor: MemberCursor): Span {
  return { start: cursor.valueStart, end: cursor.valueEnd };
}

/** Which of the names the key is, its escapes resolved. */
export function keyAmong<T extends string>(cursor: MemberCursor, names: readonly T[]): T | undefined {
  return findName(cursor.bytes, cursor.keyStart, cursor.keyEnd, names);
}

function expect(cursor: MemberCursor, at: number, byte: number, what: string): number {
  if (at < cursor.end && cursor.bytes[at] === byte) return at + 1;
  throw notJson(at, `${what} was expected`);
}
