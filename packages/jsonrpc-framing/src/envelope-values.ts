import type { EnvelopeFacts } from "./envelope-rules.js";
import { OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-bytes.js";
import { isNumberStart, readNumber } from "./json-number.js";
import { decodeString, findName } from "./json-string.js";
import type { RequestId } from "./message.js";

/** The members of a message that JSON-RPC 2.0 knows. */
const envelopeNames = ["id", "jsonrpc", "method", "params", "result", "error"] as const;
const versions = ["2.0"] as const;

/** One of them. */
export type EnvelopeName = (typeof envelopeNames)[number];

/** Which of them the checked key token at `start..end` is; undefined when it is another. */
export function envelopeName(bytes: Buffer, start: number, end: number): EnvelopeName | undefined {
  return findName(bytes, start, end, envelopeNames);
}

/** An `id` as its bytes say. */
export interface IdReading {
  readonly state: "valid" | "null" | "invalid";
  readonly value?: RequestId | undefined;
}

/** Reads the checked value token at `start..end` as an id. */
export function readId(bytes: Buffer, start: number, end: number): IdReading {
  const first = bytes[start];
  if (first === QUOTE) return { state: "valid", value: decodeString(bytes, start, end) };
  if (first === 0x6e) return { state: "null" };
  if (!isNumberStart(first)) return { state: "invalid" };
  const value = readNumber(bytes, start, end);
  return Number.isInteger(value) ? { state: "valid", value } : { state: "invalid" };
}

/** Whether the checked value token is the string "2.0". */
export function isVersion(bytes: Buffer, start: number, end: number): boolean {
  return bytes[start] === QUOTE && findName(bytes, start, end, versions) !== undefined;
}

/** What a `method` is; the empty string is not one. */
export function methodFact(bytes: Uint8Array, start: number, end: number): EnvelopeFacts["method"] {
  return bytes[start] === QUOTE && end - start > 2 ? "valid" : "invalid";
}

/** What `params` are, by their first byte. */
export function paramsFact(first: number | undefined): EnvelopeFacts["params"] {
  return first === OPEN_BRACE ? "object" : first === OPEN_BRACKET ? "array" : "invalid";
}
