import { createChunkList } from "./chunk-list.js";
import { FramingError } from "./errors.js";
import type { Frame, FrameDecoder, OversizeFrame } from "./frame.js";
import { createFrameDecoder, type Splitter } from "./frame-decoder.js";
import { CARRIAGE_RETURN, isBlank, LINE_FEED } from "./json-bytes.js";
import { frameBytes, readChoice, readCount, refuseUnknown } from "./options.js";
import { createSkipper, type Skipper } from "./skipper.js";

/** What `createLineDecoder` accepts. */
export interface LineDecoderOptions {
  /** Largest frame in bytes, terminator not counted: 1 to 268_435_456. Default 16 MiB (16_777_216). */
  readonly maxFrameBytes?: number | undefined;
  /** `fail` (default): `FRAME_TOO_LARGE`. `skip`: go on after its line feed, in constant memory, and call `onOversize`. */
  readonly oversize?: "fail" | "skip" | undefined;
  /** `reject` (default): a last line without line feed is `STREAM_TRUNCATED`. `accept`: it is a frame. */
  readonly unterminated?: "reject" | "accept" | undefined;
  /** Called inside `push` or `end`, in `skip` mode. If it throws, `push` throws the same and the decoder is spent. */
  readonly onOversize?: ((frame: OversizeFrame) => void) | undefined;
}

/** A FrameDecoder for messages that end with a line feed (MCP 2025-11-25, Transports § stdio). */
export type LineDecoder = FrameDecoder;

/** LineDecoderOptions with defaults filled in. */
interface LineTerms {
  readonly maxFrameBytes: number;
  readonly skip: boolean;
  readonly accept: boolean;
  readonly onOversize: (frame: OversizeFrame) => void;
}

const optionNames = ["maxFrameBytes", "oversize", "unterminated", "onOversize"];
const nothing = Buffer.alloc(0);

/**
 * Splits a stream at line feeds (byte 0x0A and nothing else). One carriage return before the line feed is dropped;
 * lines with nothing but white space are passed over. The bytes of a frame are not judged here: see `checkFrame`.
 * @throws {FramingError} `FRAME_TOO_LARGE` from `push`, `STREAM_TRUNCATED` from `end`.
 */
export function createLineDecoder(options?: LineDecoderOptions): LineDecoder {
  refuseUnknown(options, optionNames);
  return createFrameDecoder(
    createLineSplitter({
      maxFrameBytes: readCount("maxFrameBytes", options?.maxFrameBytes, frameBytes),
      skip: readChoice("oversize", options?.oversize, ["fail", "skip"]) === "skip",
      accept: readChoice("unterminated", options?.unterminated, ["reject", "accept"]) === "accept",
      onOversize: options?.onOversize ?? (() => undefined),
    }),
  );
}

/** One stream: the held pieces of the line that is not complete, or a skipper for a line that is too long. */
function createLineSplitter(terms: LineTerms): Splitter {
  const held = createChunkList();
  let skipper: Skipper | undefined;
  let offset = 0; // of the first byte of the line

  /** 1 when the line so far ends with a carriage return, which may be its terminator's, else 0. */
  const trailingReturn = (piece: Buffer): number => {
    const last = piece.length > 0 ? piece[piece.length - 1] : held.last();
    return last === CARRIAGE_RETURN ? 1 : 0;
  };
  /** Tested before the piece is kept. */
  const isOver = (piece: Buffer): boolean => {
    const byteLength = held.byteLength + piece.length;
    return byteLength > terms.maxFrameBytes && byteLength - trailingReturn(piece) > terms.maxFrameBytes;
  };
  const skipLine = (frames: readonly Frame[]): Skipper => {
    const pieces = held.drain();
    if (!terms.skip) throw tooLarge(terms.maxFrameBytes, offset, frames);
    const started = createSkipper(offset);
    for (const piece of pieces) started.take(piece);
    return started;
  };
  const endSkipped = (skipped: Skipper): void => {
    skipper = undefined;
    offset += skipped.byteLength;
    terms.onOversize(skipped.finish(skipped.last === CARRIAGE_RETURN ? 1 : 0));
  };
  const endLine = (piece: Buffer, frames: Frame[]): void => {
    const byteLength = held.byteLength + piece.length;
    const kept = byteLength - trailingReturn(piece);
    const line = kept === byteLength ? piece : piece.subarray(0, piece.length - 1);
    const bytes = held.byteLength === 0 ? line : held.join(piece, kept);
    if (!isBlank(bytes)) frames.push({ bytes, offset });
    offset += byteLength;
  };
  /** Takes a piece of a line, its last one if `ends`. */
  const takePiece = (piece: Buffer, ends: boolean, frames: Frame[]): void => {
    if (skipper === undefined && isOver(piece)) skipper = skipLine(frames);
    skipper?.take(piece);
    if (!ends) {
      if (skipper === undefined) held.append(piece);
      return;
    }
    if (skipper === undefined) endLine(piece, frames);
    else endSkipped(skipper);
    offset += 1;
  };

  return {
    take(chunk, frames) {
      let from = 0;
      for (let feed = chunk.indexOf(LINE_FEED); feed !== -1; feed = chunk.indexOf(LINE_FEED, from)) {
        takePiece(chunk.subarray(from, feed), true, frames);
        from = feed + 1;
      }
      // Most chunks of a large message are taken whole, without a view of their own.
      if (from < chunk.length) takePiece(from === 0 ? chunk : chunk.subarray(from), false, frames);
    },
    finish(frames) {
      const start = offset;
      const cut: Frame[] = [];
      const wasSkipping = skipper !== undefined;
      if (skipper !== undefined) endSkipped(skipper);
      else if (held.byteLength > 0) endLine(nothing, cut);
      if (!terms.accept && (wasSkipping || cut.length > 0)) throw truncated(start, offset - start);
      frames.push(...cut);
    },
    bufferedBytes: () => held.byteLength,
  };
}

function tooLarge(maxFrameBytes: number, offset: number, frames: readonly Frame[]): FramingError {
  const what = `the line at byte ${offset} of the stream is over ${maxFrameBytes} bytes`;
  return new FramingError("FRAME_TOO_LARGE", what, { offset, frames });
}

function truncated(offset: number, byteLength: number): FramingError {
  const what = `the stream ended ${byteLength} bytes into the line at byte ${offset}, without a line feed`;
  return new FramingError("STREAM_TRUNCATED", what, { offset });
}
