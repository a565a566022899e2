import type { Readable, Writable } from "node:stream";
import { createFrameIntake, type FrameIntake, guarded } from "./frame-intake.js";
import { createGate } from "./gate.js";
import { createSendQueue } from "./send-queue.js";
import type { FrameReceiver, Transport } from "./transport.js";
import type { TransportTerms } from "./transport-terms.js";

/** What a core works on. It neither ends nor destroys the streams. */
export interface StreamCoreOptions {
  readonly readable: Readable;
  readonly writable: Writable;
  readonly terms: TransportTerms;
  /** Asked when the readable ended or failed by itself: what to tell the receiver. Default: the stream's own error. */
  readonly closeCause?: ((streamError: Error | undefined) => Promise<Error | undefined>) | undefined;
}

/** A Transport over two streams, and the handles by which its owner ends it. */
export interface StreamCore {
  readonly transport: Transport;
  /** Resolves when nothing more can be read, before `closeCause` is asked. */
  readonly inputEnded: Promise<void>;
  /** Resolves when it was started and is not paused, or has finished. */
  readonly whenReading: () => Promise<void>;
  /** Rejects frames that wait, and all later ones. */
  failSends(reason: string, cause?: Error): void;
  /** Ends the receiving and tells the receiver. */
  finish(cause: Error | undefined, reason: string): void;
}

/** One state machine over the events of two streams, hence its length. */
export function createStreamCore(options: StreamCoreOptions): StreamCore {
  const { readable, writable, terms } = options;
  const queue = createSendQueue(writable, terms);
  const inputEnded = createGate<void>();
  const closed = createGate<void>();
  let receiver: FrameReceiver | undefined;
  let intake: FrameIntake | undefined;
  let isPaused = false;
  let reading = createGate<void>();
  let isAtEnd = false;
  let finished: { readonly cause: Error | undefined } | undefined;

  const onData = (chunk: Uint8Array): void => {
    if (intake?.push(chunk) === false) endInput(undefined);
  };
  const onEnd = (): void => {
    if (!isAtEnd) intake?.end();
    endInput(undefined);
  };
  const onError = (error: Error): void => endInput(error);
  const stopReading = (): void => {
    isAtEnd = true;
    readable.off("data", onData).off("end", onEnd).off("close", onEnd);
    readable.pause();
    inputEnded.open();
  };
  const endInput = (error: Error | undefined): void => {
    if (isAtEnd) return;
    stopReading();
    if (options.closeCause === undefined) finish(error, "the peer ended the stream");
    else void options.closeCause(error).then((cause) => finish(cause, cause?.message ?? "the peer ended the stream"));
  };
  const finish = (cause: Error | undefined, reason: string): void => {
    if (finished !== undefined) return;
    finished = { cause };
    intake?.stop();
    stopReading();
    readable.off("error", onError);
    queue.close(reason, cause);
    queue.release();
    reading.open();
    guarded(() => receiver?.onClose(cause));
    closed.open();
  };
  const start = (to: FrameReceiver): void => {
    if (receiver !== undefined) throw new Error("a transport is started once");
    receiver = to;
    if (finished !== undefined) {
      to.onClose(finished.cause);
    } else if (!isAtEnd) {
      intake = createFrameIntake(terms, to);
      readable.on("data", onData).on("end", onEnd).on("close", onEnd);
      setPaused(isPaused);
      if (readable.destroyed || readable.readableEnded) process.nextTick(onEnd);
    }
  };
  const close = (): Promise<void> => {
    finish(undefined, "the transport was closed");
    return closed.passed;
  };
  const setPaused = (paused: boolean): void => {
    isPaused = paused;
    if (receiver === undefined || isAtEnd) return;
    if (paused) {
      reading = createGate();
      readable.pause();
    } else {
      reading.open();
      readable.resume();
    }
  };

  const whenReading = (): Promise<void> => reading.passed;

  readable.on("error", onError);
  const transport: Transport = {
    start,
    send: queue.send,
    pause: () => setPaused(true),
    resume: () => setPaused(false),
    get queuedBytes() {
      return queue.queuedBytes;
    },
    close,
    closed: closed.passed,
    [Symbol.asyncDispose]: close,
  };
  return { transport, inputEnded: inputEnded.passed, whenReading, failSends: queue.close, finish };
}
