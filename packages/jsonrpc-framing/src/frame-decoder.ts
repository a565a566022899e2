import { FramingError, isFramingError } from "./errors.js";
import type { Frame, FrameDecoder } from "./frame.js";
import { asBuffer } from "./json-bytes.js";

/** What one codec does with bytes. Its errors carry the `frames` array that it was given. */
export interface Splitter {
  /** Takes the next bytes and adds the frames that they complete. */
  take(chunk: Buffer, frames: Frame[]): void;
  /** The stream has ended. */
  finish(frames: Frame[]): void;
  /** Bytes held. */
  bufferedBytes(): number;
}

/** A FrameDecoder around a splitter: counts bytes, and remembers that the place in the stream is lost. */
export function createFrameDecoder(splitter: Splitter): FrameDecoder {
  let offset = 0;
  let ended = false;
  let spent: { readonly error: unknown } | undefined;
  const spend = (error: unknown): void => {
    spent = { error: withoutFrames(error) };
  };
  return {
    push(chunk) {
      if (spent !== undefined) throw spent.error;
      if (ended) throw new Error("push after end");
      offset += chunk.length;
      const frames: Frame[] = [];
      try {
        splitter.take(asBuffer(chunk), frames);
      } catch (error) {
        spend(error);
        throw error;
      }
      return frames;
    },
    end() {
      if (spent !== undefined) throw spent.error;
      if (ended) return [];
      ended = true;
      const frames: Frame[] = [];
      try {
        splitter.finish(frames);
      } catch (error) {
        spend(error);
        throw error;
      }
      return frames;
    },
    get offset() {
      return offset;
    },
    get bufferedBytes() {
      return splitter.bufferedBytes();
    },
  };
}

/** What later calls throw: the frames of the first throw were delivered with it and must not be delivered again. */
function withoutFrames(error: unknown): unknown {
  if (!isFramingError(error)) return error;
  return new FramingError(error.code, error.message, { offset: error.offset, cause: error });
}
