import { closeBracket, createBracketStack, inObject, openBracket } from "./bracket-stack.js";
import { FramingError } from "./errors.js";
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipWhiteSpace,
} from "./json-bytes.js";
import { endOfLiteral } from "./json-number.js";
import { notJson } from "./json-skip.js";
import { decodeString, endOfString } from "./json-string.js";

/** What is checked beside the grammar. */
export interface GrammarOptions {
  /** A key twice in one object is `DUPLICATE_KEY`. */
  readonly refuseDuplicates?: boolean;
}

/**
 * Checks that the bytes (known to be UTF-8) are one JSON text, RFC 8259, as strictly as `JSON.parse`.
 * @throws {FramingError} `FRAME_NOT_JSON` with the offset; `DUPLICATE_KEY`.
 */
export function checkGrammar(bytes: Buffer, options: GrammarOptions = {}): void {
  const end = bytes.length;
  const keys = options.refuseDuplicates === true ? createKeySets() : undefined;
  const after = skipWhiteSpace(bytes, endOfValue(bytes, skipWhiteSpace(bytes, 0, end), end, keys), end);
  if (after < end) throw notJson(after, "something follows the value");
}

/** As `skipValue`, with every byte of the value checked. */
export function checkValue(bytes: Buffer, at: number, end: number): number {
  return endOfValue(bytes, at, end, undefined);
}

/** A state machine over bytes: linear, without recursion, and without building values. */
function endOfValue(bytes: Buffer, at: number, end: number, keys: KeySets | undefined): number {
  const open = createBracketStack();
  let i = at;
  for (;;) {
    const byte = i < end ? bytes[i] : undefined;
    // At the start of a value: go down into it, or over it.
    if (byte === OPEN_BRACE) {
      openBracket(open, byte);
      keys?.open();
      i = skipWhiteSpace(bytes, i + 1, end);
      if (i >= end || bytes[i] !== CLOSE_BRACE) {
        i = overKey(bytes, i, end, keys);
        continue;
      }
    } else if (byte === OPEN_BRACKET) {
      openBracket(open, byte);
      i = skipWhiteSpace(bytes, i + 1, end);
      if (i >= end || bytes[i] !== CLOSE_BRACKET) continue;
    } else {
      i = overScalar(bytes, i, end);
      if (open.used === 0) return i;
      i = skipWhiteSpace(bytes, i, end);
    }
    // Behind a value, or at the bracket that closes an empty one: close what closes here.
    for (let next = bytes[i]; next === CLOSE_BRACE || next === CLOSE_BRACKET; next = bytes[i]) {
      if (!closeBracket(open, next)) throw notJson(i, "a bracket closes another kind");
      if (next === CLOSE_BRACE) keys?.close();
      if (open.used === 0) return i + 1;
      i = skipWhiteSpace(bytes, i + 1, end);
    }
    if (i >= end || bytes[i] !== COMMA) throw notJson(i, "a comma or a closing bracket was expected");
    i = skipWhiteSpace(bytes, i + 1, end);
    if (inObject(open)) i = overKey(bytes, i, end, keys);
  }
}

function overScalar(bytes: Buffer, at: number, end: number): number {
  const after = at < end && bytes[at] === QUOTE ? endOfString(bytes, at, end) : endOfLiteral(bytes, at, end);
  if (after === -1) throw notJson(at, "a value was expected");
  return after;
}

/** Over a key and its colon, to the start of the value. */
function overKey(bytes: Buffer, at: number, end: number, keys: KeySets | undefined): number {
  const after = at < end && bytes[at] === QUOTE ? endOfString(bytes, at, end) : -1;
  if (after === -1) throw notJson(at, "a key was expected");
  keys?.add(decodeString(bytes, at, after), at);
  const colon = skipWhiteSpace(bytes, after, end);
  if (colon >= end || bytes[colon] !== COLON) throw notJson(colon, "a colon was expected");
  return skipWhiteSpace(bytes, colon + 1, end);
}

/** The keys of each object that is open. */
interface KeySets {
  open(): void;
  close(): void;
  add(key: string, offset: number): void;
}

function createKeySets(): KeySets {
  const sets: Set<string>[] = [];
  return {
    open: () => void sets.push(new Set()),
    close: () => void sets.pop(),
    add(key, offset) {
      const set = sets[sets.length - 1];
      if (set?.has(key)) throw new FramingError("DUPLICATE_KEY", `a key occurs twice at byte ${offset}`, { offset });
      set?.add(key);
    },
  };
}
