import type { Writable } from "node:stream";
import { StdioTransportError } from "./errors.js";
import { lineBatch, writeLines } from "./line-batch.js";
import type { SendOptions } from "./transport.js";

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

/**
 * One write is under way at a time; its callback settles the frames in it and starts the next, so the stream needs no
 * `drain` listener. The first write waits for the end of the tick, which joins what one tick sends.
 */
export function createSendQueue(writable: Writable, maxFrameBytes: number, maxQueuedBytes: number): SendQueue {
  let waiting: QueuedFrame[] = [];
  let leaving: QueuedFrame[] = [];
  let leavingBytes = 0;
  let queuedBytes = 0;
  let scheduled = false;
  let released = false;
  let closed: StdioTransportError | undefined;

  const close = (reason: string, cause?: Error): void => {
    closed ??= new StdioTransportError("TRANSPORT_CLOSED", reason, { cause });
    const failed = [...leaving, ...waiting];
    for (const { frame } of waiting) queuedBytes -= frame.length + 1;
    leaving = [];
    waiting = [];
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
    scheduled = false;
    if (leavingBytes > 0 || waiting.length === 0) return;
    const count = lineBatch(waiting);
    leaving = count === waiting.length ? waiting : waiting.slice(0, count);
    waiting = count === waiting.length ? [] : waiting.slice(count);
    for (const { frame } of leaving) leavingBytes += frame.length + 1;
    writeLines(writable, leaving, onWritten);
  };
  const onWritten = (error: Error | null | undefined): void => {
    queuedBytes -= leavingBytes;
    leavingBytes = 0;
    if (error) {
      onError(error); // and keeps listening: Node emits the same error after this callback
      return;
    }
    const done = leaving;
    leaving = [];
    for (const entry of done) {
      entry.unlisten?.();
      entry.resolve();
    }
    if (released) detach();
    else flush();
  };
  const takeBack = (frame: Uint8Array, reject: QueuedFrame["reject"], reason: unknown): void => {
    const place = waiting.findIndex((entry) => entry.reject === reject);
    if (place >= 0) {
      waiting.splice(place, 1);
      queuedBytes -= frame.length + 1;
    }
    // What is leaving leaves wholly, and counts until the system took it.
    leaving = leaving.filter((entry) => entry.reject !== reject);
    reject(reason);
  };
  const refusal = (frame: Uint8Array, signal: AbortSignal | undefined): unknown => {
    if (signal?.aborted) return signal.reason;
    if (closed !== undefined) return closed;
    if (frame.length > maxFrameBytes) return tooLarge(frame.length, maxFrameBytes);
    if (hasLineFeed(frame)) return new StdioTransportError("FRAME_HAS_NEWLINE", "a frame must not hold a line feed");
    if (queuedBytes > 0 && queuedBytes + frame.length + 1 > maxQueuedBytes) return full(queuedBytes, maxQueuedBytes);
    return undefined;
  };
  const send = (frame: Uint8Array, options?: SendOptions): Promise<void> => {
    const signal = options?.signal;
    const refused = refusal(frame, signal);
    if (refused !== undefined) return Promise.reject(refused);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => takeBack(frame, reject, signal?.reason);
      signal?.addEventListener("abort", onAbort, { once: true });
      const unlisten = signal === undefined ? undefined : () => signal.removeEventListener("abort", onAbort);
      waiting.push({ frame, resolve, reject, unlisten });
      queuedBytes += frame.length + 1;
      if (scheduled || leavingBytes > 0) return;
      scheduled = true;
      process.nextTick(flush);
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
      return queuedBytes;
    },
  };
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
