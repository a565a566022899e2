import { FramingError } from "./errors.js";
import { asBuffer, LINE_FEED } from "./json-bytes.js";
import type { JsonArray, JsonObject } from "./json-value.js";
import { frameBytes, readCount, refuseUnknown } from "./options.js";

/** What `encodeLine` and `encodeHeaderFrame` accept. */
export interface EncodeOptions {
  /** Largest frame in bytes: 1 to 268_435_456. Default 16 MiB (16_777_216). Above: `FRAME_TOO_LARGE`. */
  readonly maxFrameBytes?: number | undefined;
}

/** What can be sent: bytes or text of JSON as they are, or a value to be written as JSON. */
export type Encodable = Uint8Array | string | JsonObject | JsonArray;

/**
 * A frame and its line feed, in fresh memory. A string is JSON text, not a value; bytes and text are sent as they are.
 * @throws {FramingError} `FRAME_HAS_NEWLINE` for bytes or text with a line feed inside, `FRAME_NOT_UTF8` for text with a
 * lone surrogate, `FRAME_NOT_JSON` for a value that has no JSON form, `FRAME_TOO_LARGE`.
 */
export function encodeLine(frame: Encodable, options?: EncodeOptions): Uint8Array {
  const body = toBytes(frame, readLimit(options));
  const feed = body.indexOf(LINE_FEED);
  if (feed !== -1) {
    throw new FramingError("FRAME_HAS_NEWLINE", `a line feed at byte ${feed} of the frame`, { offset: feed });
  }
  const line = Buffer.allocUnsafe(body.length + 1);
  line.set(body);
  line[body.length] = LINE_FEED;
  return line;
}

/**
 * A frame led by its `Content-Length` header, in fresh memory. A string is JSON text, not a value.
 * @throws {FramingError} as `encodeLine`; line feeds are allowed.
 */
export function encodeHeaderFrame(frame: Encodable, options?: EncodeOptions): Uint8Array {
  const body = toBytes(frame, readLimit(options));
  const header = Buffer.from(`Content-Length: ${body.length}\r\n\r\n`);
  return Buffer.concat([header, body]);
}

function readLimit(options: EncodeOptions | undefined): number {
  if (options === undefined) return frameBytes.default;
  refuseUnknown(options, ["maxFrameBytes"]);
  return readCount("maxFrameBytes", options.maxFrameBytes, frameBytes);
}

/** The limit is tested on the text first: UTF-8 never has fewer bytes than UTF-16 has units. */
function toBytes(frame: Encodable, maxFrameBytes: number): Buffer {
  const source = frame instanceof Uint8Array ? asBuffer(frame) : toText(frame);
  if (source.length > maxFrameBytes) throw tooLarge(maxFrameBytes);
  const bytes = typeof source === "string" ? Buffer.from(source) : source;
  if (bytes.length > maxFrameBytes) throw tooLarge(maxFrameBytes);
  return bytes;
}

function toText(frame: string | JsonObject | JsonArray): string {
  if (typeof frame !== "string") return stringify(frame);
  if (/\p{Surrogate}/u.test(frame)) {
    throw new FramingError("FRAME_NOT_UTF8", "the text has a lone surrogate, which UTF-8 cannot say");
  }
  return frame;
}

function stringify(value: JsonObject | JsonArray): string {
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    cause = error; // a cycle, a bigint, a toJSON that throws, or nesting that overflows the stack
  }
  if (text === undefined) throw new FramingError("FRAME_NOT_JSON", "the value has no JSON form", { cause });
  return text;
}

function tooLarge(maxFrameBytes: number): FramingError {
  return new FramingError("FRAME_TOO_LARGE", `the frame is over ${maxFrameBytes} bytes`);
}
