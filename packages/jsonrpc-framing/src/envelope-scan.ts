import type { RequestId } from "./message.js";
import type { Span } from "./span.js";

/** The id of a message, with its place. */
export interface EnvelopeId extends Span {
  /** As `JSON.parse` would read it. An integer beyond 2^53 - 1 is rounded here and exact in the frame's bytes. */
  readonly value: RequestId;
}

/** What routing needs to know of a message, with the places of the rest. */
export interface Envelope {
  /** A message with a `method` is never a response. */
  readonly kind: "request" | "notification" | "response" | "error";
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
   * brackets match. `full`: all of JSON's grammar, at the cost of reading every byte one by one.
   */
  readonly grammar?: "envelope" | "full" | undefined;
}

/**
 * Finds kind, id, method and the places of `params`, `result` and `error` in a frame, without parsing the rest. On JSON
 * that is valid, the answer is what `JSON.parse` and `readMessage` would say (the last of equal keys counts); README
 * § Guarantees says what is not checked. Linear time; nesting is not limited and costs no stack.
 * @param wanted Names of members of `params` to find as well, such as `["name", "_meta"]`.
 * @throws {FramingError} `FRAME_NOT_UTF8`, `FRAME_HAS_BOM`, `FRAME_NOT_JSON`, `BATCH_REFUSED`, `MESSAGE_INVALID`, `ID_INVALID`.
 */
export function scanEnvelope(frame: Uint8Array, wanted?: readonly string[], options?: ScanOptions): Envelope {
  throw new Error(`not built yet: ${frame.length} ${wanted?.length} ${options?.grammar}`);
}
