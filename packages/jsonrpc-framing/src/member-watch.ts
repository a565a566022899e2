import { closeBracket, createBracketStack, depthOf, openBracket } from "./bracket-stack.js";
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isWhiteSpace,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from "./json-bytes.js";
import { endOfLiteral } from "./json-number.js";
import { endOfString } from "./json-string.js";
import { createStringRun } from "./string-run.js";
import { createToken } from "./token.js";

const MAX_LEVELS = 1024;

/** Where in the object the next byte stands. */
type Place =
  | "start"
  | "first key"
  | "key"
  | "in key"
  | "colon"
  | "value"
  | "in kept string"
  | "in passed string"
  | "in literal"
  | "in nested"
  | "in nested string"
  | "comma"
  | "after"
  | "lost";

/** Told of each member, in order. The bytes are valid during the call. */
export interface MemberListener {
  /** A key token, its grammar checked. Returns whether a string value of this member is to be kept and checked. */
  onKey(key: Buffer): boolean;
  /** The value: its first byte, and its whole token if it is a literal or a kept string. */
  onValue(first: number, token: Buffer | undefined): void;
}

/** Reads the members of one object whose bytes go by in chunks. */
export interface MemberWatch {
  push(bytes: Buffer): void;
  /** Whether what went by was one object with white space around it, for certain. */
  readonly complete: boolean;
}

/**
 * A state machine over the grammar that `nextMember` checks, for chunks cut anywhere, in constant memory. What it cannot
 * be sure of (a token over 512 bytes, nesting over 1,024 levels) makes it lost, for good, as does what is not JSON.
 */
export function createMemberWatch(listener: MemberListener): MemberWatch {
  const open = createBracketStack();
  const run = createStringRun();
  const token = createToken();
  let place: Place = "start";
  let keeps = false;

  const endKey = (): void => {
    const key = token.bytes();
    const checked = key !== undefined && endOfString(key, 0, key.length) === key.length;
    keeps = checked && listener.onKey(key);
    place = checked ? "colon" : "lost";
  };
  const endToken = (end: (bytes: Buffer, at: number, end: number) => number): void => {
    const value = token.bytes();
    const first = value?.[0];
    const checked = value !== undefined && first !== undefined && end(value, 0, value.length) === value.length;
    if (checked) listener.onValue(first, value);
    place = checked ? "comma" : "lost";
  };
  const beginString = (bytes: Buffer, at: number, next: Place): void => {
    token.clear();
    token.append(bytes, at, at + 1);
    place = next;
  };
  /** Over a string; the token takes its bytes if it is kept. */
  const inString = (bytes: Buffer, at: number, isKept: boolean, then: () => void): number => {
    const found = run.end(bytes, at);
    const end = found === -1 ? bytes.length : found;
    if (isKept) token.append(bytes, at, end);
    if (found !== -1) then();
    return end;
  };
  const endPassed = (): void => {
    place = "comma";
  };
  const endNestedString = (): void => {
    place = "in nested";
  };
  const beginValue = (bytes: Buffer, at: number, byte: number): number => {
    if (byte === QUOTE && keeps) {
      beginString(bytes, at, "in kept string");
      return at + 1;
    }
    if (byte === QUOTE || byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      listener.onValue(byte, undefined);
      if (byte !== QUOTE) openBracket(open, byte);
      place = byte === QUOTE ? "in passed string" : "in nested";
      return at + 1;
    }
    token.clear();
    place = "in literal";
    return at;
  };
  const inLiteral = (bytes: Buffer, at: number): number => {
    let i = at;
    while (i < bytes.length && !endsLiteral(bytes[i])) i++;
    token.append(bytes, at, i);
    if (i < bytes.length) endToken(endOfLiteral);
    return i;
  };
  /** A hot loop: most bytes of an oversize frame go by here. */
  const inNested = (bytes: Buffer, at: number): number => {
    for (let i = at; i < bytes.length; i++) {
      const byte = bytes[i];
      if (byte === QUOTE) {
        place = "in nested string";
        return i + 1;
      }
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        openBracket(open, byte);
        if (depthOf(open) >= MAX_LEVELS) place = "lost";
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (!closeBracket(open, byte)) place = "lost";
        else if (open.used === 0) place = "comma";
      }
      if (place !== "in nested") return i + 1;
    }
    return bytes.length;
  };
  /** Between tokens: one byte, which says what comes next. */
  const between = (bytes: Buffer, at: number): number => {
    const byte = bytes[at];
    if (byte === undefined || isWhiteSpace(byte)) return at + 1;
    if (place === "value") return beginValue(bytes, at, byte);
    if (byte === QUOTE && (place === "key" || place === "first key")) beginString(bytes, at, "in key");
    else place = placeAfter(place, byte);
    return at + 1;
  };
  const step = (bytes: Buffer, at: number): number => {
    switch (place) {
      case "in key":
        return inString(bytes, at, true, endKey);
      case "in kept string":
        return inString(bytes, at, true, () => endToken(endOfString));
      case "in passed string":
        return inString(bytes, at, false, endPassed);
      case "in nested string":
        return inString(bytes, at, false, endNestedString);
      case "in literal":
        return inLiteral(bytes, at);
      case "in nested":
        return inNested(bytes, at);
      default:
        return between(bytes, at);
    }
  };

  return {
    push(bytes) {
      for (let at = 0; at < bytes.length && place !== "lost"; ) at = step(bytes, at);
    },
    get complete() {
      return place === "after";
    },
  };
}

/** What a byte between tokens leads to, quotes and values apart. */
function placeAfter(place: Place, byte: number): Place {
  switch (place) {
    case "start":
      return byte === OPEN_BRACE ? "first key" : "lost";
    case "first key":
      return byte === CLOSE_BRACE ? "after" : "lost";
    case "colon":
      return byte === COLON ? "value" : "lost";
    case "comma":
      return byte === COMMA ? "key" : byte === CLOSE_BRACE ? "after" : "lost";
    default:
      return "lost";
  }
}

function endsLiteral(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || isWhiteSpace(byte);
}
