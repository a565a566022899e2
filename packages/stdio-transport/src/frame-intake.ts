import {
  checkFrame,
  createLineDecoder,
  type Frame,
  FramingError,
  isFramingError,
  type OversizeFrame,
} from "@berth/jsonrpc-framing";
import type { FrameReceiver } from "./transport.js";
import type { TransportTerms } from "./transport-terms.js";

/** Turns the bytes of one stream into calls of one receiver, in the order of the stream. */
export interface FrameIntake {
  /** False when the place in the stream is lost and nothing more can be read. */
  push(chunk: Uint8Array): boolean;
  end(): void;
  /** Nothing is delivered any more, not even what is being delivered. */
  stop(): void;
}

export function createFrameIntake(terms: TransportTerms, receiver: FrameReceiver): FrameIntake {
  let stopped = false;
  let skipped: OversizeFrame[] = [];
  const { maxFrameBytes, oversize, unterminated } = terms;
  const onOversize = (frame: OversizeFrame): void => void skipped.push(frame);
  const decoder = createLineDecoder({ maxFrameBytes, oversize, unterminated, onOversize });

  const deliver = (frames: readonly Frame[]): void => {
    for (const frame of frames) {
      if (skipped.length > 0) deliverSkipped(frame.offset);
      if (stopped) return;
      try {
        deliverOne(receiver, frame);
      } catch (error) {
        throwLater(error);
      }
    }
    if (skipped.length > 0) deliverSkipped(Number.POSITIVE_INFINITY);
  };
  // The decoder tells of skipped frames before it returns the frames around them: bring them into the stream's order.
  const deliverSkipped = (before: number): void => {
    const due = skipped.filter((frame) => frame.offset < before);
    skipped = skipped.filter((frame) => frame.offset >= before);
    for (const frame of due) {
      if (!stopped) guarded(() => deliverOversize(receiver, frame, terms.maxFrameBytes));
    }
  };
  const decode = (step: () => readonly Frame[]): boolean => {
    try {
      deliver(step());
      return true;
    } catch (error) {
      if (!isFramingError(error)) throw error;
      deliver(error.frames);
      if (!stopped) guarded(() => receiver.onFault(error));
      return false;
    }
  };
  return {
    push: (chunk) => decode(() => decoder.push(chunk)),
    end: () => void decode(() => decoder.end()),
    stop: () => {
      stopped = true;
    },
  };
}

/** A receiver that throws has a bug: it becomes an uncaught exception, and what it did not see is still delivered. */
export function guarded(callback: () => void): void {
  try {
    callback();
  } catch (error) {
    throwLater(error);
  }
}

function throwLater(error: unknown): void {
  process.nextTick(() => {
    throw error;
  });
}

function deliverOne(receiver: FrameReceiver, frame: Frame): void {
  const fault = checkFrame(frame);
  if (fault === undefined) receiver.onFrame(frame);
  else receiver.onFault(fault, frame);
}

function deliverOversize(receiver: FrameReceiver, frame: OversizeFrame, limit: number): void {
  if (receiver.onOversize !== undefined) {
    receiver.onOversize(frame);
  } else {
    const message = `a frame of ${frame.byteLength} bytes is over the limit of ${limit}`;
    receiver.onFault(new FramingError("FRAME_TOO_LARGE", message, { offset: frame.offset }));
  }
}
