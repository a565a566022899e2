import { createChunkList } from "./chunk-list.js";
import { FramingError } from "./errors.js";
import type { Frame, FrameDecoder, OversizeFrame } from "./frame.js";
import { createFrameDecoder, type Splitter } from "./frame-decoder.js";
import { createHeaderBlock } from "./header-block.js";
import { readContentLength } from "./header-fields.js";
import { frameBytes, type Range, readChoice, readCount, refuseUnknown } from "./options.js";
import { createSkipper, type Skipper } from "./skipper.js";

/** What `createHeaderDecoder` accepts. */
export interface HeaderDecoderOptions {
  /** Largest body in bytes: 1 to 268_435_456. Default 16 MiB (16_777_216). Tested when the header has been read. */
  readonly maxFrameBytes?: number | undefined;
  /** Largest header block in bytes, its empty line included: 32 to 65_536. Default 4_096. Above: `HEADER_TOO_LARGE`. */
  readonly maxHeaderBytes?: number | undefined;
  /** `fail` (default): `FRAME_TOO_LARGE`. `skip`: go on after the body, in constant memory, and call `onOversize`. */
  readonly oversize?: "fail" | "skip" | undefined;
  /** As in `LineDecoderOptions`. */
  readonly onOversize?: ((frame: OversizeFrame) => void) | undefined;
}

/** A FrameDecoder for messages led by a Content-Length header. */
export type HeaderDecoder = FrameDecoder;

/** HeaderDecoderOptions with defaults filled in. */
interface HeaderTerms {
  readonly maxFrameBytes: number;
  readonly maxHeaderBytes: number;
  readonly skip: boolean;
  readonly onOversize: (frame: OversizeFrame) => void;
}

const headerBytes: Range = { min: 32, max: 65_536, default: 4_096 };
const optionNames = ["maxFrameBytes", "maxHeaderBytes", "oversize", "onOversize"];

/**
 * Splits a stream of messages that are led by `Content-Length` (Language Server Protocol 3.17 § Base Protocol; Debug
 * Adapter Protocol). A body of length 0 is a frame; the bytes are not judged here: see `checkFrame`.
 * @throws {FramingError} `HEADER_INVALID`, `HEADER_TOO_LARGE`, `FRAME_TOO_LARGE` from `push`, `STREAM_TRUNCATED` from `end`.
 */
export function createHeaderDecoder(options?: HeaderDecoderOptions): HeaderDecoder {
  refuseUnknown(options, optionNames);
  return createFrameDecoder(
    createHeaderSplitter({
      maxFrameBytes: readCount("maxFrameBytes", options?.maxFrameBytes, frameBytes),
      maxHeaderBytes: readCount("maxHeaderBytes", options?.maxHeaderBytes, headerBytes),
      skip: readChoice("oversize", options?.oversize, ["fail", "skip"]) === "skip",
      onOversize: options?.onOversize ?? (() => undefined),
    }),
  );
}

/** One stream: the header block being read, then the held pieces of the body or a skipper for one that is too long. */
function createHeaderSplitter(terms: HeaderTerms): Splitter {
  const header = createHeaderBlock(terms.maxHeaderBytes);
  const held = createChunkList();
  let skipper: Skipper | undefined;
  let missing: number | undefined; // bytes of the body that are still to come; undefined while a header is read
  let offset = 0; // of the next byte to be taken

  const endBody = (last: Buffer, frames: Frame[]): void => {
    missing = undefined;
    if (skipper !== undefined) {
      const skipped = skipper;
      skipper = undefined;
      terms.onOversize(skipped.finish());
      return;
    }
    const byteLength = held.byteLength + last.length;
    const bytes = held.byteLength === 0 ? last : held.join(last, byteLength);
    frames.push({ bytes, offset: offset - byteLength });
  };
  const takeBody = (piece: Buffer, expected: number, frames: Frame[]): void => {
    offset += piece.length;
    skipper?.take(piece);
    if (piece.length === expected) {
      endBody(piece, frames);
      return;
    }
    missing = expected - piece.length;
    if (skipper === undefined) held.append(piece);
  };
  const beginBody = (block: Buffer, start: number, frames: Frame[]): void => {
    missing = readContentLength(block, start, frames);
    if (missing <= terms.maxFrameBytes) return;
    if (!terms.skip) throw tooLarge(missing, terms.maxFrameBytes, offset, frames);
    skipper = createSkipper(offset);
  };
  const takeHeader = (rest: Buffer, frames: Frame[]): number => {
    const start = offset - header.byteLength;
    const { taken, block } = header.take(rest);
    offset += taken;
    if (block !== undefined) beginBody(block, start, frames);
    else if (header.byteLength === terms.maxHeaderBytes) throw headerTooLarge(terms.maxHeaderBytes, start, frames);
    return taken;
  };

  return {
    take(chunk, frames) {
      let from = 0;
      while (from < chunk.length || missing === 0) {
        if (missing === undefined) {
          from += takeHeader(chunk.subarray(from), frames);
        } else {
          const piece = chunk.subarray(from, from + missing);
          from += piece.length;
          takeBody(piece, missing, frames);
        }
      }
    },
    finish() {
      if (missing === undefined && header.byteLength === 0) return;
      const start = offset - header.byteLength - held.byteLength - (skipper?.byteLength ?? 0);
      if (skipper !== undefined) terms.onOversize(skipper.finish());
      throw truncated(start, missing);
    },
    bufferedBytes: () => held.byteLength + header.byteLength,
  };
}

function headerTooLarge(maxHeaderBytes: number, offset: number, frames: readonly Frame[]): FramingError {
  const what = `the header at byte ${offset} of the stream does not end within ${maxHeaderBytes} bytes`;
  return new FramingError("HEADER_TOO_LARGE", what, { offset, frames });
}

function tooLarge(length: number, maxFrameBytes: number, offset: number, frames: readonly Frame[]): FramingError {
  const what = `the body of ${length} bytes at byte ${offset} of the stream is over ${maxFrameBytes} bytes`;
  return new FramingError("FRAME_TOO_LARGE", what, { offset, frames });
}

function truncated(offset: number, missing: number | undefined): FramingError {
  const what = missing === undefined ? "inside a header" : `${missing} bytes before the end of the body`;
  return new FramingError("STREAM_TRUNCATED", `the stream ended ${what} that began at byte ${offset}`, { offset });
}
