import {
  type Envelope,
  isFramingError,
  type JsonObject,
  scanEnvelope,
  spanType,
  type WireError,
} from "@berth/jsonrpc-framing";
import { isTooDeep, maxDepth } from "./nesting.js";

/** Members of a notification's params that say whose it is. */
const wanted = ["_meta", "progressToken", "requestId"];

/** A line that a plugin must not write, and where in the line the fault is. */
export interface FrameFault {
  readonly kind: "fault";
  /** What it is, such as `a batch`. */
  readonly fault: string;
  readonly at: number;
}

/** What one line of a plugin is. */
export type PluginFrame =
  | {
      readonly kind: "answer";
      readonly id: number;
      readonly envelope: Envelope;
      /** In place of a result. Its text is the plugin's. */
      readonly error: WireError | undefined;
    }
  | { readonly kind: "notification"; readonly method: string; readonly envelope: Envelope }
  | FrameFault;

/** Reads a line as PROTOCOL.md § 3 wants it: all of JSON's grammar, since the bytes may be passed on to a client. */
export function readPluginFrame(bytes: Uint8Array): PluginFrame {
  const envelope = scan(bytes);
  if ("fault" in envelope) return envelope;
  if (isTooDeep(bytes)) return fault(`a message of more than ${maxDepth} levels`);
  const { kind, id, method, result } = envelope;
  if (kind === "notification") return { kind, method: method ?? "", envelope };
  if (kind === "request") return fault("a request, and a plugin never asks");
  if (id === undefined) return fault("an error answer without an id, which answers nothing that was asked");
  if (typeof id.value !== "number") return fault("an answer to an id that was never used", id.start);
  if (result !== undefined && spanType(bytes, result) !== "object")
    return fault("a result that is no object", result.start);
  return { kind: "answer", id: id.value, envelope, error: readAnswerError(bytes, envelope) };
}

function scan(bytes: Uint8Array): Envelope | FrameFault {
  try {
    return scanEnvelope(bytes, wanted, { grammar: "full", duplicateKeys: "refuse" });
  } catch (error) {
    if (!isFramingError(error)) throw error;
    return fault(faultWords(error.code, error.message), error.offset);
  }
}

/** What a line is called that cannot be read. */
export function faultWords(code: string, message: string): string {
  return known[code] ?? `a line that is no message: ${message}`;
}

const known: Readonly<Record<string, string>> = {
  BATCH_REFUSED: "a batch",
  FRAME_NOT_JSON: "a line that is not JSON",
  FRAME_NOT_UTF8: "a line that is not UTF-8",
  FRAME_HAS_BOM: "a line that begins with a byte order mark",
};

function fault(words: string, at = 0): FrameFault {
  return { kind: "fault", fault: words, at };
}

/** The error of an answer; `scanEnvelope` has seen that it has a code and a message. */
export function readAnswerError(bytes: Uint8Array, { error }: Envelope): WireError | undefined {
  if (error === undefined) return undefined;
  const wire: WireError = JSON.parse(textOf(bytes, error));
  return wire;
}

/** The error of an answer to a line that could not be read: its id is null. Undefined for all else. */
export function readNullAnswer(bytes: Uint8Array): WireError | undefined {
  const envelope = scan(bytes);
  if ("fault" in envelope || isTooDeep(bytes)) return undefined;
  const { id, error } = envelope;
  return id === undefined && error !== undefined ? readAnswerError(bytes, envelope) : undefined;
}

/** The result of an answer, which was seen to be an object; undefined for an error. */
export function readAnswerResult(bytes: Uint8Array, { result }: Envelope): JsonObject | undefined {
  if (result === undefined) return undefined;
  const value: JsonObject = JSON.parse(textOf(bytes, result));
  return value;
}

/** The params of a notification, `{}` where there are none, or a list. */
export function readParams(bytes: Uint8Array, { params }: Envelope): JsonObject {
  if (params === undefined || spanType(bytes, params) !== "object") return {};
  const value: JsonObject = JSON.parse(textOf(bytes, params));
  return value;
}

function textOf(bytes: Uint8Array, { start, end }: { readonly start: number; readonly end: number }): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
}
