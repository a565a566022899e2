import type { Frame, FramingError, OversizeFrame } from "@berth/jsonrpc-framing";

/** Who is told what a transport receives. Called one at a time, in the order of the stream; must not block. */
export interface FrameReceiver {
  /** One line that is well-formed UTF-8 and looks like a JSON object or array. Its bytes must not be changed. */
  onFrame(frame: Frame): void;
  /** A line over `maxFrameBytes` was passed over (`oversize: "skip"`). Without this method it goes to `onFault`. */
  onOversize?(frame: OversizeFrame): void;
  /**
   * Bytes that are not a frame. The transport goes on with the next line where there is one; whether that is right is for
   * the receiver to say. `frame` is the bad line where it was whole. `fault.offset` is its place in the stream.
   */
  onFault(fault: FramingError, frame?: Frame): void;
  /**
   * Called once, last, after all frames. Without a cause the peer ended the stream or `close` was called;
   * a child that ended without `close` is always a cause (`CHILD_EXITED`, `CHILD_CLOSED_OUTPUT`).
   */
  onClose(cause: Error | undefined): void;
}

/** How one frame is sent. */
export interface SendOptions {
  /**
   * Ends the wait, and takes the frame back if none of it was handed to the stream yet; else all of it still leaves.
   * The promise rejects with `signal.reason` in both cases.
   */
  readonly signal?: AbortSignal | undefined;
}

/** Frames in, frames out, close. The same contract over streams, over a child process and in memory. */
export interface Transport extends AsyncDisposable {
  /** Begins to read. Call once, before the first frame is expected; a second call is a bug and throws. */
  start(receiver: FrameReceiver): void;
  /**
   * Sends one frame, without terminator. Frames leave in call order, each wholly or not at all; those of one tick leave in
   * one write. The bytes must not be changed before the promise settles. Resolves when the operating system has taken
   * them (the peer need not have read them).
   * Rejects with `FRAME_TOO_LARGE`, `FRAME_HAS_NEWLINE`, `QUEUE_FULL`, `TRANSPORT_CLOSED` or the signal's reason.
   */
  send(frame: Uint8Array, options?: SendOptions): Promise<void>;
  /** Stops reading, so that the peer is slowed down. A chunk that was already read is still delivered. */
  pause(): void;
  /** Reads again. */
  resume(): void;
  /** Bytes accepted by `send` that the operating system has not taken yet. */
  readonly queuedBytes: number;
  /** Ends it: nothing is received any more, frames not handed over are rejected. Call as often as you like. */
  close(): Promise<void>;
  /** Resolves after `onClose` was called, whoever ended it. Never rejects. */
  readonly closed: Promise<void>;
}

/** What bounds a transport. */
export interface TransportLimits {
  /** Largest frame in bytes, in and out, terminator not counted: 1_024 to 67_108_864. Default 16 MiB (16_777_216). */
  readonly maxFrameBytes?: number | undefined;
  /** Most bytes waiting to be sent: 1_024 to 1_073_741_824. Default 32 MiB. One frame is accepted whatever its size when nothing waits. */
  readonly maxQueuedBytes?: number | undefined;
  /** From so many bytes on, frames do not wait for the end of their tick to leave joined: 0 to 65_536. Default 4_096. 0 where each is waited for. */
  readonly eagerBytes?: number | undefined;
  /** A received line over `maxFrameBytes`: `skip` (default) passes over it in constant memory, `fail` ends the receiving. */
  readonly oversize?: "fail" | "skip" | undefined;
  /** A last line without line feed: `reject` (default) is the fault `STREAM_TRUNCATED`, `accept` takes it as a frame. */
  readonly unterminated?: "reject" | "accept" | undefined;
}
