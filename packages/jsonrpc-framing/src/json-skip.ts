import { kindOf, WORD_LEVELS } from "./bracket-stack.js";
import { FramingError } from "./errors.js";
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-bytes.js";
import { endOfLiteral } from "./json-number.js";
import { findQuote, NEAR } from "./json-string.js";

/** A fault of JSON's grammar at a byte of the frame. */
export function notJson(offset: number, what: string): FramingError {
  return new FramingError("FRAME_NOT_JSON", `not JSON at byte ${offset}: ${what}`, { offset });
}

/**
 * The end of the value that starts at `at`. Numbers and words are checked; of strings only where they end, of objects
 * and arrays only that strings end and brackets match.
 */
export function skipValue(bytes: Buffer, at: number, end: number): number {
  const byte = at < end ? bytes[at] : undefined;
  if (byte === QUOTE) return skipString(bytes, at, end);
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return skipNested(bytes, at, end);
  const after = endOfLiteral(bytes, at, end);
  if (after === -1) throw notJson(at, "a value was expected");
  return after;
}

function skipString(bytes: Buffer, at: number, end: number): number {
  const quote = findQuote(bytes, at + 1, end);
  if (quote === -1) throw notJson(at, "a string does not end");
  return quote + 1;
}

/**
 * A hot loop: one pass, no recursion (bench/framing.bench.mjs, "dense JSON"). Short strings are passed here, not by a
 * call for each, and the kinds of open brackets are bits of two locals (as in bracket-stack.ts), not of a record: with
 * either the other way it takes a third longer. Most bytes between strings are digits, commas and colons, and fall
 * through after two comparisons.
 */
function skipNested(bytes: Buffer, at: number, end: number): number {
  const outer: number[] = [];
  let word = 0;
  let used = 0;
  let i = at;
  while (i < end) {
    const byte = bytes[i++];
    if (byte === QUOTE) {
      const near = Math.min(i + NEAR, end);
      for (;;) {
        if (i >= near) {
          i = skipString(bytes, i - 1, end);
          break;
        }
        const letter = bytes[i++];
        if (letter === QUOTE) break;
        if (letter === BACKSLASH) i++;
      }
    } else if (byte !== undefined && byte >= OPEN_BRACKET) {
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (used === WORD_LEVELS) {
          outer.push(word);
          word = 0;
          used = 0;
        }
        word = (word << 1) | kindOf(byte);
        used++;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if ((word & 1) !== kindOf(byte)) throw notJson(i - 1, "a bracket closes another kind");
        word >>= 1;
        used--;
        if (used === 0) {
          if (outer.length === 0) return i;
          word = outer.pop() ?? 0;
          used = WORD_LEVELS;
        }
      }
    }
  }
  throw notJson(at, "a bracket is not closed");
}
