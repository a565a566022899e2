import type { RequestId } from "./message.js";

/** One message's bytes as they came, without terminator or header. Not yet checked: see `checkFrame`. */
export interface Frame {
  /** A view, often into the chunk that was pushed: it keeps that chunk's memory alive, and neither may be written to. */
  readonly bytes: Uint8Array;
  /** Bytes of the stream before the first byte of the frame. */
  readonly offset: number;
}

/** What a frame that was too large to keep says about itself. */
export interface OversizeEnvelope {
  readonly kind: "request" | "notification" | "response" | "error";
  /** Absent for notifications, and for an error response without id. */
  readonly id?: RequestId | undefined;
}

/** A frame over the limit, skipped in constant memory. */
export interface OversizeFrame {
  /** Bytes of the stream before the first byte of the frame. Compare with `Frame.offset` for the order of arrival. */
  readonly offset: number;
  /** Size of the whole frame without terminator or header; of what came, when the stream ended inside it. */
  readonly byteLength: number;
  /** A copy of the first bytes, at most 1 KiB, for the operator. */
  readonly head: Uint8Array;
  /**
   * Kind and id, found while the bytes went by, wherever in the object they stand. Present only if certain: the same
   * checks as `scanEnvelope` (except inside `error`) held to the last byte, nesting was at most 1,024 levels, and the
   * id at most 512 bytes.
   */
  readonly envelope?: OversizeEnvelope | undefined;
}

/** Turns chunks of bytes into frames. No I/O; memory is bounded by `maxFrameBytes`, time is linear in the bytes. */
export interface FrameDecoder {
  /**
   * Frames completed by this chunk, in arrival order; none while a frame is still partial. The chunk must not be
   * changed afterwards: frames are views into it.
   * @throws {FramingError} With `frames`, those complete before the fault. The decoder is then spent, since the place in
   * the stream is lost: each further call throws the same error.
   */
  push(chunk: Uint8Array): readonly Frame[];
  /**
   * Says that the stream has ended; afterwards `push` throws a plain Error. May be called again, then returns nothing.
   * @throws {FramingError} `STREAM_TRUNCATED` if it ended inside a frame.
   */
  end(): readonly Frame[];
  /** Bytes pushed so far. */
  readonly offset: number;
  /** Bytes held for a frame that is not complete: at most `maxFrameBytes` and a few. */
  readonly bufferedBytes: number;
}
