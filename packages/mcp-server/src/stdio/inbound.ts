import type { Readable } from "node:stream";
import {
  createLineDecoder,
  type Frame,
  type FramingError,
  isFramingError,
  type Message,
  type OversizeFrame,
  type ParseOptions,
  parseMessage,
} from "@berth/jsonrpc-framing";

/** Told of what comes in, in the order of the stream. */
export interface InboundEvents {
  onMessage(message: Message): void;
  onBadLine(fault: FramingError): void;
  onOversize(frame: OversizeFrame): void;
  /** Once. `truncated` when the stream ended inside a line; `error` when it failed. */
  onEnd(end: { readonly truncated: boolean; readonly error: Error | undefined }): void;
}

/** The reading half of a stdio server. The stream stays its owner's. */
export interface Inbound {
  pause(): void;
  resume(): void;
  /** Nothing is told any more. */
  stop(): void;
}

const parsing: ParseOptions = { params: "object", duplicateKeys: "refuse" };

/** One machine over the events of a stream. */
export function readMessages(readable: Readable, maxFrameBytes: number, events: InboundEvents): Inbound {
  let stopped = false;
  let oversize: OversizeFrame[] = [];
  const decoder = createLineDecoder({
    maxFrameBytes,
    oversize: "skip",
    unterminated: "reject",
    onOversize: (frame) => void oversize.push(frame),
  });

  const deliver = (frame: Frame): void => {
    let message: Message;
    try {
      message = parseMessage(frame.bytes, parsing);
    } catch (error) {
      if (!isFramingError(error)) throw error;
      events.onBadLine(error);
      return;
    }
    events.onMessage(message);
  };
  // Told by the decoder before the frames around them: brought into the stream's order.
  const deliverOversize = (before: number): void => {
    const due = oversize.filter(({ offset }) => offset < before);
    oversize = oversize.filter(({ offset }) => offset >= before);
    for (const frame of due) if (!stopped) events.onOversize(frame);
  };
  const deliverAll = (frames: readonly Frame[]): void => {
    for (const frame of frames) {
      if (oversize.length > 0) deliverOversize(frame.offset);
      if (stopped) return;
      deliver(frame);
    }
    if (oversize.length > 0) deliverOversize(Number.POSITIVE_INFINITY);
  };
  const onData = (chunk: Uint8Array): void => deliverAll(decoder.push(chunk));
  const stop = (): void => {
    if (stopped) return;
    stopped = true;
    readable.off("data", onData).off("end", onEnd).off("close", onEnd);
    readable.pause();
  };
  const finish = (error: Error | undefined): void => {
    if (stopped) return;
    const truncated = isTruncated(() => deliverAll(decoder.end()));
    if (stopped) return;
    stop();
    events.onEnd({ truncated, error });
  };
  const onEnd = (): void => finish(undefined);

  readable.on("data", onData).on("end", onEnd).on("close", onEnd).on("error", finish);
  if (readable.destroyed || readable.readableEnded) process.nextTick(onEnd);
  return {
    pause: () => void readable.pause(),
    resume: () => void (stopped || readable.resume()),
    stop,
  };
}

function isTruncated(end: () => void): boolean {
  try {
    end();
    return false;
  } catch (error) {
    if (isFramingError(error)) return true;
    throw error;
  }
}
