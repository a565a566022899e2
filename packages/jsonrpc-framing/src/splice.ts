import type { Envelope } from "./envelope-scan.js";
import type { RequestId } from "./message.js";
import type { Span } from "./span.js";

/** Replaces the bytes from `start` to `end` (equal: inserts there). */
export interface Edit extends Span {
  readonly bytes: Uint8Array;
}

/**
 * The frame with the edits made, in fresh memory; all other bytes stay. Edits may come in any order; those that insert
 * at one place keep their order.
 * @throws {RangeError} when edits overlap or lie outside the frame.
 */
export function splice(frame: Uint8Array, edits: readonly Edit[]): Uint8Array {
  throw new Error(`not built yet: ${frame.length} ${edits.length}`);
}

/**
 * The frame with another id; all other bytes stay.
 * @throws {RangeError} when the envelope has no id, or `id` is a number that is not a safe integer.
 */
export function replaceId(frame: Uint8Array, envelope: Envelope, id: RequestId): Uint8Array {
  throw new Error(`not built yet: ${frame.length} ${envelope.kind} ${id}`);
}
