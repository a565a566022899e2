import { FramingError } from "./errors.js";
import { asBuffer, CLOSE_BRACKET, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE, skipWhiteSpace } from "./json-bytes.js";
import { endOfLiteral, readNumber } from "./json-number.js";
import { notJson, skipValue } from "./json-skip.js";
import { decodeString, endOfString } from "./json-string.js";
import { keyAmong, nextMember, openObject, valueSpan } from "./member-cursor.js";
import { type Range, readCount } from "./options.js";
import type { MemberSpan, Span, SplitLimits } from "./span.js";

/** What a span's value is. */
export type SpanType = "object" | "array" | "string" | "number" | "boolean" | "null";

const items: Range = { min: 1, max: 16_777_216, default: 65_536 };

/** The type of the value at a span, by its first byte. */
export function spanType(frame: Uint8Array, span: Span): SpanType {
  switch (frame[span.start]) {
    case OPEN_BRACE:
      return "object";
    case OPEN_BRACKET:
      return "array";
    case QUOTE:
      return "string";
    case 0x74: // t
    case 0x66: // f
      return "boolean";
    case 0x6e: // n
      return "null";
    default:
      return "number";
  }
}

/**
 * The value at a path of keys below the object at `span`, such as `["_meta", "progressToken"]`; undefined when a key is
 * absent or something on the way is not an object. The last of equal keys counts.
 * @throws {FramingError} `FRAME_NOT_JSON` when an object on the way is malformed at its own level.
 */
export function readMember(frame: Uint8Array, span: Span, path: readonly string[]): Span | undefined {
  const bytes = asBuffer(frame);
  let at: Span | undefined = span;
  for (const name of path) {
    if (at === undefined || bytes[at.start] !== OPEN_BRACE) return undefined;
    at = lastMember(bytes, at, name);
  }
  return at;
}

function lastMember(bytes: Buffer, span: Span, name: string): Span | undefined {
  let found: Span | undefined;
  const names = [name];
  const cursor = openObject(bytes, span.start, span.end);
  while (nextMember(cursor)) if (keyAmong(cursor, names) !== undefined) found = valueSpan(cursor);
  return found;
}

/**
 * The string, number, boolean or null at a span, as `JSON.parse` reads it; undefined for an object or array.
 * @throws {FramingError} `FRAME_NOT_JSON` when the span is not one JSON value.
 */
export function readScalar(frame: Uint8Array, span: Span): string | number | boolean | null | undefined {
  const type = spanType(frame, span);
  if (type === "object" || type === "array") return undefined;
  if (type === "string") return readString(frame, span);
  const bytes = asBuffer(frame);
  if (endOfLiteral(bytes, span.start, span.end) !== span.end) throw notJson(span.start, "a value was expected");
  if (type === "number") return readNumber(bytes, span.start, span.end);
  return type === "null" ? null : bytes[span.start] === 0x74;
}

/**
 * The string at a span, as `JSON.parse` reads it; undefined when the value is not a string.
 * @throws {FramingError} `FRAME_NOT_JSON` when it begins as a string and is not one.
 */
export function readString(frame: Uint8Array, span: Span): string | undefined {
  const bytes = asBuffer(frame);
  if (bytes[span.start] !== QUOTE) return undefined;
  if (endOfString(bytes, span.start, span.end) !== span.end) throw notJson(span.start, "a string was expected");
  return decodeString(bytes, span.start, span.end);
}

/**
 * The elements of the array at a span, in order.
 * @throws {FramingError} `FRAME_NOT_JSON` when the value is not an array or is malformed at its own level; `TOO_MANY_ITEMS`.
 */
export function splitArray(frame: Uint8Array, span: Span, limits?: SplitLimits): readonly Span[] {
  const maxItems = readCount("maxItems", limits?.maxItems, items);
  const bytes = asBuffer(frame);
  if (bytes[span.start] !== OPEN_BRACKET) throw notJson(span.start, "an array was expected");
  const elements: Span[] = [];
  let i = skipWhiteSpace(bytes, span.start + 1, span.end);
  if (i < span.end && bytes[i] === CLOSE_BRACKET) return elements;
  for (;;) {
    const end = skipValue(bytes, i, span.end);
    if (elements.length === maxItems) throw tooManyItems(maxItems, i);
    elements.push({ start: i, end });
    i = skipWhiteSpace(bytes, end, span.end);
    if (i < span.end && bytes[i] === CLOSE_BRACKET) return elements;
    if (i >= span.end || bytes[i] !== COMMA) throw notJson(i, "a comma or a closing bracket was expected");
    i = skipWhiteSpace(bytes, i + 1, span.end);
  }
}

/**
 * The members of the object at a span, in order, equal keys included.
 * @throws {FramingError} `FRAME_NOT_JSON` when the value is not an object or is malformed at its own level; `TOO_MANY_ITEMS`.
 */
export function splitObject(frame: Uint8Array, span: Span, limits?: SplitLimits): readonly MemberSpan[] {
  const maxItems = readCount("maxItems", limits?.maxItems, items);
  const bytes = asBuffer(frame);
  if (bytes[span.start] !== OPEN_BRACE) throw notJson(span.start, "an object was expected");
  const members: MemberSpan[] = [];
  const cursor = openObject(bytes, span.start, span.end);
  while (nextMember(cursor)) {
    const { keyStart, keyEnd } = cursor;
    if (members.length === maxItems) throw tooManyItems(maxItems, keyStart);
    const key = decodeString(bytes, keyStart, keyEnd);
    members.push({ key, keySpan: { start: keyStart, end: keyEnd }, value: valueSpan(cursor) });
  }
  return members;
}

function tooManyItems(maxItems: number, offset: number): FramingError {
  return new FramingError("TOO_MANY_ITEMS", `more than ${maxItems} items at one level`, { offset });
}
