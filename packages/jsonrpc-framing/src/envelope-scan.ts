import { batchRefused, classify, type EnvelopeFacts, type MessageKind, refused } from "./envelope-rules.js";
import {
  type EnvelopeName,
  envelopeName,
  type IdReading,
  isVersion,
  methodFact,
  paramsFact,
  readId,
} from "./envelope-values.js";
import { FramingError } from "./errors.js";
import { asBuffer, OPEN_BRACE, OPEN_BRACKET, QUOTE, skipWhiteSpace } from "./json-bytes.js";
import { checkGrammar, checkValue } from "./json-grammar.js";
import { endOfLiteral, isNumberStart, readNumber } from "./json-number.js";
import { notJson, skipValue } from "./json-skip.js";
import { decodeString, endOfString } from "./json-string.js";
import {
  endValue,
  keyAmong,
  type MemberCursor,
  nextKey,
  nextMember,
  openObject,
  type SkipValue,
  valueSpan,
} from "./member-cursor.js";
import type { RequestId } from "./message.js";
import type { Span } from "./span.js";
import { requireText } from "./utf8.js";

/** The id of a message, with its place. */
export interface EnvelopeId extends Span {
  /** As `JSON.parse` would read it. An integer beyond 2^53 - 1 is rounded here and exact in the frame's bytes. */
  readonly value: RequestId;
}

/** What routing needs to know of a message, with the places of the rest. */
export interface Envelope {
  /** A message with a `method` is never a response. */
  readonly kind: MessageKind;
  /** Absent for notifications, and for an error response whose id is absent or `null`. */
  readonly id?: EnvelopeId | undefined;
  readonly method?: string | undefined;
  /** Of requests and notifications: an object or an array. */
  readonly params?: Span | undefined;
  readonly result?: Span | undefined;
  readonly error?: Span | undefined;
  /** The members of `params` that were asked for and are there. Absent when none was asked for. */
  readonly members?: ReadonlyMap<string, Span> | undefined;
}

/** How much `scanEnvelope` checks. */
export interface ScanOptions {
  /**
   * `envelope` (default): the grammar of the message's own members; inside nested values only that strings end and
   * brackets match. `full`: all of JSON's grammar, at the cost of reading every byte.
   */
  readonly grammar?: "envelope" | "full" | undefined;
  /**
   * A member of the message, or a wanted member of `params`, that is there twice: `last` counts (default, as in `JSON.parse`), or
   * `refuse`, for frames that are passed on to parsers which may take another one.
   */
  readonly duplicateKeys?: "last" | "refuse" | undefined;
}

/**
 * Finds kind, id, method and the places of `params`, `result` and `error` in a frame, without parsing the rest. On JSON
 * that is valid, the answer is what `JSON.parse` and `readMessage` would say (the last of equal keys counts); README
 * § Guarantees says what is not checked. Linear time; nesting is not limited and costs no stack.
 * @param wanted Names of members of `params` to find as well, such as `["name", "_meta"]`.
 * @throws {FramingError} `FRAME_NOT_UTF8`, `FRAME_HAS_BOM`, `FRAME_NOT_JSON`, `BATCH_REFUSED`, `MESSAGE_INVALID`, `ID_INVALID`; `DUPLICATE_KEY`.
 */
export function scanEnvelope(frame: Uint8Array, wanted?: readonly string[], options?: ScanOptions): Envelope {
  const bytes = asBuffer(frame);
  requireText(bytes);
  const found = findMembers(bytes, wanted, options?.grammar === "full" ? checkValue : skipValue);
  const id = found.id && readId(bytes, found.id.start, found.id.end);
  const facts = readFacts(bytes, found, id);
  const kind = classify(facts);
  if (typeof kind !== "string") throw refused(kind, facts, id?.value);
  if (options?.duplicateKeys === "refuse" && found.repeated) throw isThereTwice(found.repeated, facts, id?.value);
  return toEnvelope(bytes, found, kind, id);
}

/** The last of each member that JSON-RPC knows. */
interface FoundMembers extends Record<EnvelopeName, Span | undefined> {
  /** Of the last `params`; undefined when no names were wanted. */
  members: Map<string, Span> | undefined;
  /** The first of them that came a second time. */
  repeated: Repeated | undefined;
}

interface Repeated {
  readonly name: string;
  /** Of the second key. */
  readonly offset: number;
}

function findMembers(bytes: Buffer, wanted: readonly string[] | undefined, skip: SkipValue): FoundMembers {
  const start = skipWhiteSpace(bytes, 0, bytes.length);
  if (bytes[start] !== OPEN_BRACE) {
    if (skip === checkValue) checkGrammar(bytes);
    throw notObject(bytes, start);
  }
  const found: FoundMembers = {
    id: undefined,
    jsonrpc: undefined,
    method: undefined,
    params: undefined,
    result: undefined,
    error: undefined,
    members: wanted && new Map(),
    repeated: undefined,
  };
  const cursor = openObject(bytes, start, bytes.length, skip);
  while (nextKey(cursor)) {
    const name = envelopeName(bytes, cursor.keyStart, cursor.keyEnd);
    if (name !== undefined && found[name] !== undefined) noteRepeated(found, name, cursor);
    endValue(cursor, endOfMember(cursor, name, found, wanted));
    if (name !== undefined) found[name] = valueSpan(cursor);
  }
  const end = skipWhiteSpace(bytes, cursor.at, bytes.length);
  if (end !== bytes.length) throw notJson(end, "something follows the message");
  return found;
}

/** A frame that does not begin with a brace is a batch, another JSON value, or no JSON. */
function notObject(bytes: Buffer, start: number): FramingError {
  if (bytes[start] === OPEN_BRACKET) return batchRefused();
  const end = bytes.length;
  const after = bytes[start] === QUOTE ? endOfString(bytes, start, end) : endOfLiteral(bytes, start, end);
  if (after === -1 || skipWhiteSpace(bytes, after, end) !== end) return notJson(start, "an object was expected");
  return new FramingError("MESSAGE_INVALID", "the message is not an object");
}

function endOfMember(
  cursor: MemberCursor,
  name: EnvelopeName | undefined,
  found: FoundMembers,
  wanted: readonly string[] | undefined,
): number {
  const { bytes, valueStart, end, skip } = cursor;
  switch (name) {
    case "id":
    case "method":
    case "jsonrpc":
      return checkedEnd(cursor);
    case "params":
      if (wanted === undefined) return skip(bytes, valueStart, end);
      found.members = new Map();
      return bytes[valueStart] === OPEN_BRACE
        ? collectMembers(cursor, wanted, found, found.members)
        : skip(bytes, valueStart, end);
    default:
      return skip(bytes, valueStart, end);
  }
}

/** As `skipValue`, with every byte of a string checked: its value is going to be read. */
function checkedEnd({ bytes, valueStart, end, skip }: MemberCursor): number {
  if (bytes[valueStart] !== QUOTE) return skip(bytes, valueStart, end);
  const after = endOfString(bytes, valueStart, end);
  if (after === -1) throw notJson(valueStart, "a string was expected");
  return after;
}

/** Walks `params` once for both purposes: to find the wanted members, and to find its end. */
function collectMembers(
  outer: MemberCursor,
  wanted: readonly string[],
  found: FoundMembers,
  members: Map<string, Span>,
): number {
  const cursor = openObject(outer.bytes, outer.valueStart, outer.end, outer.skip);
  while (nextMember(cursor)) {
    const name = keyAmong(cursor, wanted);
    if (name === undefined) continue;
    if (members.has(name)) noteRepeated(found, name, cursor);
    members.set(name, valueSpan(cursor));
  }
  return cursor.at;
}

function noteRepeated(found: FoundMembers, name: string, { keyStart }: MemberCursor): void {
  found.repeated ??= { name, offset: keyStart };
}

function isThereTwice({ name, offset }: Repeated, facts: EnvelopeFacts, id: RequestId | undefined): FramingError {
  // An answer can name the id only where there is one, of what may be a request.
  const requestId = name === "id" || facts.method === "absent" ? undefined : id;
  return new FramingError("DUPLICATE_KEY", `the member ${name} is there twice`, { offset, requestId });
}

function readFacts(bytes: Buffer, found: FoundMembers, id: IdReading | undefined): EnvelopeFacts {
  const { jsonrpc, method, params, error } = found;
  return {
    version: jsonrpc !== undefined && isVersion(bytes, jsonrpc.start, jsonrpc.end),
    id: id?.state ?? "absent",
    method: method ? methodFact(bytes, method.start, method.end) : "absent",
    params: params ? paramsFact(bytes[params.start]) : "absent",
    result: found.result !== undefined,
    error: error ? errorFact(bytes, error) : "absent",
  };
}

const errorNames = ["code", "message"] as const;

/** An error has an integer `code` and a string `message` (JSON-RPC 2.0 § 5.1). */
function errorFact(bytes: Buffer, error: Span): EnvelopeFacts["error"] {
  if (bytes[error.start] !== OPEN_BRACE) return "invalid";
  let code = false;
  let message = false;
  const cursor = openObject(bytes, error.start, error.end);
  while (nextMember(cursor)) {
    const name = keyAmong(cursor, errorNames);
    if (name === "code") code = isInteger(cursor);
    else if (name === "message") message = bytes[cursor.valueStart] === QUOTE;
  }
  return code && message ? "valid" : "invalid";
}

function isInteger({ bytes, valueStart, valueEnd }: MemberCursor): boolean {
  return isNumberStart(bytes[valueStart]) && Number.isInteger(readNumber(bytes, valueStart, valueEnd));
}

function toEnvelope(bytes: Buffer, found: FoundMembers, kind: MessageKind, id: IdReading | undefined): Envelope {
  const isCall = kind === "request" || kind === "notification";
  return {
    kind,
    id: found.id && id?.value !== undefined ? { value: id.value, ...found.id } : undefined,
    method: isCall && found.method ? decodeString(bytes, found.method.start, found.method.end) : undefined,
    params: isCall ? found.params : undefined,
    result: found.result,
    error: found.error,
    members: isCall ? found.members : undefined,
  };
}
