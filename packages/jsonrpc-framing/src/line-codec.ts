import type { FrameDecoder, OversizeFrame } from "./frame.js";
import type { JsonArray, JsonObject } from "./json-value.js";

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

/**
 * Splits a stream at line feeds (byte 0x0A and nothing else). One carriage return before the line feed is dropped;
 * lines with nothing but white space are passed over. The bytes of a frame are not judged here: see `checkFrame`.
 */
export function createLineDecoder(options?: LineDecoderOptions): LineDecoder {
  throw new Error(`not built yet: ${options?.oversize}`);
}

/** What `encodeLine` and `encodeHeaderFrame` accept. */
export interface EncodeOptions {
  /** Largest frame in bytes: 1 to 268_435_456. Default 16 MiB (16_777_216). Above: `FRAME_TOO_LARGE`. */
  readonly maxFrameBytes?: number | undefined;
}

/**
 * A frame and its line feed, in fresh memory. A string is JSON text, not a value; bytes and text are sent as they are.
 * @throws {FramingError} `FRAME_HAS_NEWLINE` for bytes or text with a line feed inside, `FRAME_NOT_UTF8` for text with a
 * lone surrogate, `FRAME_NOT_JSON` for a value that has no JSON form, `FRAME_TOO_LARGE`.
 */
export function encodeLine(frame: Uint8Array | string | JsonObject | JsonArray, options?: EncodeOptions): Uint8Array {
  throw new Error(`not built yet: ${typeof frame} ${options?.maxFrameBytes}`);
}
