import type { Frame, FramingError, OversizeFrame } from "@berth/jsonrpc-framing";
import type { FrameReceiver } from "../src/index.js";

/** A receiver that keeps what it is told, and lets a test wait for it. */
export interface Recorder extends FrameReceiver {
  readonly frames: readonly string[];
  readonly offsets: readonly number[];
  readonly faults: readonly FramingError[];
  readonly faultFrames: readonly (Frame | undefined)[];
  readonly oversize: readonly OversizeFrame[];
  /** Everything in the order of its arrival. */
  readonly log: readonly string[];
  readonly closes: readonly (Error | undefined)[];
  onOversize(frame: OversizeFrame): void;
  /** Resolves when so many frames have come, or rejects when the transport closed before, or after ten seconds. */
  framesCame(count: number): Promise<void>;
  /** Resolves with the cause when the transport has closed. */
  readonly closed: Promise<Error | undefined>;
}

export function createRecorder(onFrame?: (frame: Frame) => void): Recorder {
  const frames: string[] = [];
  const offsets: number[] = [];
  const faults: FramingError[] = [];
  const faultFrames: (Frame | undefined)[] = [];
  const oversize: OversizeFrame[] = [];
  const log: string[] = [];
  const closes: (Error | undefined)[] = [];
  const waits = new Set<() => void>();
  let tellClosed: (cause: Error | undefined) => void = () => undefined;
  const closed = new Promise<Error | undefined>((resolve) => {
    tellClosed = resolve;
  });
  const look = (): void => {
    for (const wait of waits) wait();
  };
  return {
    frames,
    offsets,
    faults,
    faultFrames,
    oversize,
    log,
    closes,
    closed,
    onFrame(frame) {
      const text = Buffer.from(frame.bytes).toString();
      frames.push(text);
      offsets.push(frame.offset);
      log.push(`frame ${text.slice(0, 40)}`);
      onFrame?.(frame);
      look();
    },
    onOversize(frame) {
      oversize.push(frame);
      log.push(`oversize ${frame.byteLength}`);
      look();
    },
    onFault(fault, frame) {
      faults.push(fault);
      faultFrames.push(frame);
      log.push(`fault ${fault.code}`);
      look();
    },
    onClose(cause) {
      closes.push(cause);
      log.push("close");
      tellClosed(cause);
      look();
    },
    framesCame: (count) =>
      new Promise((resolve, reject) => {
        const bound = AbortSignal.timeout(10_000);
        const wait = (): void => {
          if (frames.length < count && closes.length === 0 && !bound.aborted) return;
          waits.delete(wait);
          bound.removeEventListener("abort", wait);
          if (frames.length >= count) resolve();
          else reject(new Error(`${frames.length} of ${count} frames came: ${log.join(", ")}`));
        };
        waits.add(wait);
        bound.addEventListener("abort", wait);
        wait();
      }),
  };
}

/** Rejects when it takes longer than the bound. */
export async function soon<T>(promise: Promise<T>, what: string, boundMs = 10_000): Promise<T> {
  const bound = AbortSignal.timeout(boundMs);
  return new Promise((resolve, reject) => {
    bound.addEventListener("abort", () => reject(new Error(`${what} did not come within ${boundMs} ms`)), {
      once: true,
    });
    promise.then(resolve, reject);
  });
}

/** The error that a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}

export const bytes = (text: string): Uint8Array => Buffer.from(text);
