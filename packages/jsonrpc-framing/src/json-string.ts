import { BACKSLASH, QUOTE } from "./json-bytes.js";

/** Below this distance between quotes a byte loop beats a native search, which costs about 50 ns a call. */
export const NEAR = 64;

/**
 * The first quote in `bytes[at..end)` that no backslash escapes, or -1; `at` is inside a string and not itself escaped.
 * Linear: short strings and dense escapes by a byte loop, long runs by native search (bench/framing.bench.mjs).
 */
export function findQuote(bytes: Buffer, at: number, end: number): number {
  let i = at;
  while (i < end) {
    const near = Math.min(end, i + NEAR);
    while (i < near) {
      const byte = bytes[i];
      if (byte === QUOTE) return i;
      i += byte === BACKSLASH ? 2 : 1;
    }
    if (i >= end) return -1;
    const quote = bytes.indexOf(QUOTE, i);
    if (quote === -1 || quote >= end) return -1;
    if (!endsEscaped(bytes, i, quote)) return quote;
    i = quote + 1;
  }
  return -1;
}

/** Whether the byte after `bytes[at..end)` is escaped: an odd run of backslashes ends there. `at` is not escaped. */
export function endsEscaped(bytes: Uint8Array, at: number, end: number): boolean {
  let i = end;
  while (i > at && bytes[i - 1] === BACKSLASH) i--;
  return (end - i) % 2 === 1;
}

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const lower = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x66);
}

/** The length of the escape whose backslash is at `at` (RFC 8259 § 7); 0 when it is not one. */
function escapeLength(bytes: Uint8Array, at: number): number {
  switch (bytes[at + 1]) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // solidus
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return 2;
    case 0x75: // u
      return isHex(bytes[at + 2]) && isHex(bytes[at + 3]) && isHex(bytes[at + 4]) && isHex(bytes[at + 5]) ? 6 : 0;
    default:
      return 0;
  }
}

/** After so many plain bytes in a row a string is read by words: a view of them costs about as much. */
const plainBefore = 32;

/** The end (after the closing quote) of the string whose opening quote is at `at`, every byte of it checked; or -1. */
export function endOfString(bytes: Uint8Array, at: number, end: number): number {
  let i = at + 1;
  let byWordsFrom = i + plainBefore;
  while (i < end) {
    const byte = bytes[i];
    if (byte === undefined || byte < 0x20) return -1;
    if (byte === QUOTE) return i + 1;
    if (byte === BACKSLASH) {
      const length = escapeLength(bytes, i);
      if (length === 0) return -1;
      i += length;
      byWordsFrom = i + plainBefore;
    } else if (i >= byWordsFrom && (bytes.byteOffset + i) % 4 === 0) {
      i = Math.max(i + 1, overPlainWords(bytes, i, end));
      byWordsFrom = i + plainBefore;
    } else {
      i++;
    }
  }
  return -1;
}

/** Over the words at `at` (on a word's border in memory) that hold neither a quote, a backslash nor a control character. */
function overPlainWords(bytes: Uint8Array, at: number, end: number): number {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + at, (end - at) >> 2);
  let index = 0;
  while (index < words.length && isPlainWord(words[index] ?? 0)) index++;
  return at + 4 * index;
}

/**
 * Whether none of the four bytes is a quote, a backslash or below 0x20. `(x - n * 0x01010101) & ~x` has the highest bit of
 * a byte below n set, in the lowest such byte and perhaps above it (Bit Twiddling Hacks, "Determine if a word has a byte less than n").
 */
function isPlainWord(word: number): boolean {
  const quote = word ^ 0x2222_2222;
  const backslash = word ^ 0x5c5c_5c5c;
  const special =
    ((word - 0x2020_2020) & ~word) | ((quote - 0x0101_0101) & ~quote) | ((backslash - 0x0101_0101) & ~backslash);
  return (special & 0x8080_8080) === 0;
}

/** Whether the text between two quotes is the same as its bytes: printable ASCII without escapes. */
function isPlain(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i];
    if (byte === undefined || byte < 0x20 || byte >= 0x80 || byte === BACKSLASH || byte === QUOTE) return false;
  }
  return true;
}

/**
 * The value of the string token at `start..end`, quotes included.
 * @throws {SyntaxError} when it is not one string.
 */
export function decodeString(bytes: Buffer, start: number, end: number): string {
  if (bytes[start] === QUOTE && bytes[end - 1] === QUOTE && end - start >= 2 && isPlain(bytes, start + 1, end - 1)) {
    return bytes.toString("latin1", start + 1, end - 1);
  }
  const value: unknown = JSON.parse(bytes.toString("utf8", start, end));
  if (typeof value !== "string") throw new SyntaxError("not a string");
  return value;
}

/** Which of the names the checked string token at `start..end` (quotes included) is, its escapes resolved. */
export function findName<T extends string>(
  bytes: Buffer,
  start: number,
  end: number,
  names: readonly T[],
): T | undefined {
  const length = end - start - 2;
  let plain: boolean | undefined;
  for (const name of names) {
    // One UTF-16 unit takes at least one byte and, written as an escape, at most six.
    if (length < name.length || length > 6 * name.length) continue;
    plain ??= isPlain(bytes, start + 1, end - 1);
    if (!plain) return findDecoded(decodeString(bytes, start, end), names);
    if (length === name.length && startsWith(bytes, start + 1, name)) return name;
  }
  return undefined;
}

function findDecoded<T extends string>(text: string, names: readonly T[]): T | undefined {
  return names.find((name) => name === text);
}

/** Whether plain bytes are this text; a text that is not ASCII never is. */
function startsWith(bytes: Buffer, at: number, text: string): boolean {
  for (let k = 0; k < text.length; k++) if (bytes[at + k] !== text.charCodeAt(k)) return false;
  return true;
}
