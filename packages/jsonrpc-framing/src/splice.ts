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
  const ordered = inOrder(edits);
  const result = Buffer.allocUnsafe(lengthAfter(frame, ordered));
  let from = 0;
  let to = 0;
  for (const edit of ordered) {
    result.set(frame.subarray(from, edit.start), to);
    to += edit.start - from;
    result.set(edit.bytes, to);
    to += edit.bytes.length;
    from = edit.end;
  }
  result.set(frame.subarray(from), to);
  return result;
}

/**
 * The frame with another id; all other bytes stay.
 * @throws {RangeError} when the envelope has no id, or `id` is a number that is not a safe integer.
 */
export function replaceId(frame: Uint8Array, envelope: Envelope, id: RequestId): Uint8Array {
  if (envelope.id === undefined) throw new RangeError("the message has no id to replace");
  if (typeof id === "number" && !Number.isSafeInteger(id)) throw new RangeError(`the id ${id} is not a safe integer`);
  const { start, end } = envelope.id;
  return splice(frame, [{ start, end, bytes: Buffer.from(JSON.stringify(id)) }]);
}

function inOrder(edits: readonly Edit[]): readonly Edit[] {
  const areInOrder = edits.every((edit, index) => index === 0 || compareEdits(edits[index - 1] ?? edit, edit) <= 0);
  return areInOrder ? edits : [...edits].sort(compareEdits);
}

function compareEdits(a: Edit, b: Edit): number {
  return a.start - b.start || a.end - b.end;
}

function lengthAfter(frame: Uint8Array, ordered: readonly Edit[]): number {
  let length = frame.length;
  let from = 0;
  for (const { start, end, bytes } of ordered) {
    if (start < from || end < start || end > frame.length) {
      throw new RangeError(`the edit from ${start} to ${end} overlaps another or lies outside the frame`);
    }
    length += bytes.length - (end - start);
    from = end;
  }
  return length;
}
