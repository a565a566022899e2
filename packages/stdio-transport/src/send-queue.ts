import type { Writable } from "node:stream";
import { StdioTransportError } from "./errors.js";
import { lineBatch, lineBytes, writeLines } from "./line-batch.js";
import type { SendOptions } from "./transport.js";
import type { TransportTerms } from "./transport-terms.js";

/** The sending half of a Transport: bounded, in order, each frame wholly or not at all. */
export interface SendQueue {
  send(frame: Uint8Array, options?: SendOptions): Promise<void>;
  readonly queuedBytes: number;
  /** Rejects what the system has not taken yet, and all later sends, with `TRANSPORT_CLOSED` for this reason. */
  close(reason: string, cause?: Error): void;
  /** Lets go of the stream, at the latest when the write that is under way has ended. */
  release(): void;
}

interface QueuedFrame {
  readonly frame: Uint8Array;
  readonly resolve: () => void;
  readonly reject: (cause: unknown) => void;
  /** Stops listening for an abort. */
  readonly unlisten: (() => void) | undefined;
}

/** One write that is under way. Emptied when its frames were settled before it ended. */
interface Write {
  entries: readonly QueuedFrame[];
  readonly byteLength: number;
}

/**
 * Frames of one tick leave joined, in writes of `eagerBytes`, which the peer can work on while we make the next. A write is
 * begun only when the stream holds nothing that the system has not taken, and its callback settles the frames in it and begins
 * the next, so the stream buffers one write at most and needs no `drain` listener. One state machine on the hot path
 * (bench/endpoint.bench.mjs), hence its length.
 */
export function createSendQueue(
  writable: Writable,
  { maxFrameBytes, maxQueuedBytes, eagerBytes }: TransportTerms,
): SendQueue {
  let waiting: QueuedFrame[] = [];
  let waitingBytes = 0;
  const writes: Write[] = [];
  let leavingBytes = 0;
  let scheduled = false;
  let released = false;
  let closed: StdioTransportError | undefined;

  const close = (reason: string, cause?: Error): void => {
    // A child's pipe often closes before its exit is told: the one with a cause says more.
    if (closed === undefined || (closed.cause === undefined && cause !== undefined))
      closed = new StdioTransportError("TRANSPORT_CLOSED", reason, { cause });
    const failed = [...writes.flatMap((write) => write.entries), ...waiting];
    for (const write of writes) write.entries = [];
    waiting = [];
    waitingBytes = 0;
    for (const entry of failed) {
      entry.unlisten?.();
      entry.reject(closed);
    }
  };
  const onError = (error: Error): void => close("the peer no longer reads", error);
  const onClose = (): void => close("the stream was closed");
  const detach = (): void => {
    writable.off("error", onError);
    writable.off("close", onClose);
  };
  const flush = (): void => {
    while (waiting.length > 0 && writable.writableLength === 0) {
      const count = lineBatch(waiting);
      const entries = count === waiting.length ? waiting : waiting.slice(0, count);
      waiting = count === waiting.length ? [] : waiting.slice(count);
      const byteLength = lineBytes(entries);
      waitingBytes -= byteLength;
      leavingBytes += byteLength;
      writes.push({ entries, byteLength });
      writeLines(writable, entries, onWritten);
    }
  };
  const onTickEnd = (): void => {
    scheduled = false;
    flush();
  };
  const onWritten = (error: Error | null | undefined): void => {
    if (error) onError(error); // while the write is still listed, so that its frames are rejected too
    const write = writes.shift();
    leavingBytes -= write?.byteLength ?? 0;
    if (error) return; // and keeps listening: Node emits the same error after this callback
    for (const entry of write?.entries ?? []) {
      entry.unlisten?.();
      entry.resolve();
    }
    if (released && leavingBytes === 0) detach();
    else flush();
  };
  const takeBack = (frame: Uint8Array, reject: QueuedFrame["reject"], reason: unknown): void => {
    const place = waiting.findIndex((entry) => entry.reject === reject);
    if (place >= 0) {
      waiting.splice(place, 1);
      waitingBytes -= frame.length + 1;
    }
    // What is leaving leaves wholly, and counts until the system took it.
    for (const write of writes) write.entries = write.entries.filter((entry) => entry.reject !== reject);
    reject(reason);
  };
  const refusal = (frame: Uint8Array, signal: AbortSignal | undefined): unknown => {
    if (signal?.aborted) return signal.reason;
    if (closed !== undefined) return closed;
    if (frame.length > maxFrameBytes) return tooLarge(frame.length, maxFrameBytes);
    if (hasLineFeed(frame)) return new StdioTransportError("FRAME_HAS_NEWLINE", "a frame must not hold a line feed");
    const queuedBytes = waitingBytes + leavingBytes;
    if (queuedBytes > 0 && queuedBytes + frame.length + 1 > maxQueuedBytes) return full(queuedBytes, maxQueuedBytes);
    return undefined;
  };
  const send = (frame: Uint8Array, options?: SendOptions): Promise<void> => {
    const signal = options?.signal;
    const refused = refusal(frame, signal);
    if (refused !== undefined) return Promise.reject(refused);
    return new Promise((resolve, reject) => {
      const unlisten = signal && onAbort(signal, () => takeBack(frame, reject, signal.reason));
      waiting.push({ frame, resolve, reject, unlisten });
      waitingBytes += frame.length + 1;
      if (waitingBytes >= eagerBytes) {
        flush();
      } else if (!scheduled) {
        scheduled = true;
        process.nextTick(onTickEnd);
      }
    });
  };
  const release = (): void => {
    released = true;
    if (leavingBytes === 0 && !writable.destroyed) detach();
  };

  writable.on("error", onError);
  writable.on("close", onClose);
  if (writable.destroyed || writable.writableEnded) onClose();
  return {
    send,
    close,
    release,
    get queuedBytes() {
      return waitingBytes + leavingBytes;
    },
  };
}

/** Returns what stops the listening. */
function onAbort(signal: AbortSignal, listener: () => void): () => void {
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}

/** `Uint8Array.indexOf` compares byte by byte; Buffer's searches 30 times faster. */
function hasLineFeed(frame: Uint8Array): boolean {
  return Buffer.prototype.indexOf.call(frame, 0x0a) >= 0;
}

function tooLarge(size: number, limit: number): StdioTransportError {
  return new StdioTransportError("FRAME_TOO_LARGE", `a frame of ${size} bytes is over the limit of ${limit}`);
}

function full(waiting: number, limit: number): StdioTransportError {
  return new StdioTransportError("QUEUE_FULL", `${waiting} bytes wait to be sent, the limit is ${limit}`);
}
