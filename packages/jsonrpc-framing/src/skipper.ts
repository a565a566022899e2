import { createEnvelopeWatch } from "./envelope-watch.js";
import type { OversizeFrame } from "./frame.js";

const HEAD_BYTES = 1024;

/** Lets the bytes of an oversize frame go by, in constant memory. */
export interface Skipper {
  /** Bytes taken so far. */
  readonly byteLength: number;
  /** The byte that came last. */
  readonly last: number | undefined;
  take(piece: Buffer): void;
  /** What can be said of the frame. The last `dropped` bytes are its terminator's. */
  finish(dropped?: number): OversizeFrame;
}

/** A skipper for the frame that begins at this offset of the stream. */
export function createSkipper(offset: number): Skipper {
  const head = Buffer.alloc(HEAD_BYTES);
  const watch = createEnvelopeWatch();
  let byteLength = 0;
  let last: number | undefined;
  return {
    get byteLength() {
      return byteLength;
    },
    get last() {
      return last;
    },
    take(piece) {
      if (piece.length === 0) return;
      if (byteLength < HEAD_BYTES) piece.copy(head, byteLength);
      byteLength += piece.length;
      last = piece[piece.length - 1];
      watch.push(piece);
    },
    finish(dropped = 0) {
      const length = byteLength - dropped;
      const kept = head.subarray(0, Math.min(length, HEAD_BYTES));
      return { offset, byteLength: length, head: kept, envelope: watch.finish() };
    },
  };
}
