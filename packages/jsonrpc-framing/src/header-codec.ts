import type { FrameDecoder, OversizeFrame } from "./frame.js";
import type { JsonArray, JsonObject } from "./json-value.js";
import type { EncodeOptions } from "./line-codec.js";

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

/**
 * Splits a stream of messages that are led by `Content-Length` (Language Server Protocol 3.17 § Base Protocol; Debug
 * Adapter Protocol). Beside the faults of every FrameDecoder it throws `HEADER_INVALID` and `HEADER_TOO_LARGE`.
 */
export function createHeaderDecoder(options?: HeaderDecoderOptions): HeaderDecoder {
  throw new Error(`not built yet: ${options?.oversize}`);
}

/**
 * A frame led by its `Content-Length` header, in fresh memory. A string is JSON text, not a value.
 * @throws {FramingError} as `encodeLine`; line feeds are allowed.
 */
export function encodeHeaderFrame(
  frame: Uint8Array | string | JsonObject | JsonArray,
  options?: EncodeOptions,
): Uint8Array {
  throw new Error(`not built yet: ${typeof frame} ${options?.maxFrameBytes}`);
}
