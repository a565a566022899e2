import { createBracketStack } from "./bracket-stack.js";
import { FramingError } from "./errors.js";
import { CLOSE_BRACE, CLOSE_BRACKET, endOfLiteral, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-bytes.js";
import { findQuote } from "./json-string.js";

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

/** A hot loop (bench/framing.bench.mjs, "dense JSON"): one pass, no recursion. */
function skipNested(bytes: Buffer, at: number, end: number): number {
  const open = createBracketStack();
  for (let i = at; i < end; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      i = skipString(bytes, i, end) - 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      open.push(byte === OPEN_BRACE);
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (!open.pop(byte === CLOSE_BRACE)) throw notJson(i, "a bracket closes another kind");
      if (open.depth === 0) return i + 1;
    }
  }
  throw notJson(at, "a bracket is not closed");
}
