import { FramingError } from "./errors.js";
import type { Frame } from "./frame.js";
import { CLOSE_BRACE, CLOSE_BRACKET, isWhiteSpace, OPEN_BRACE, OPEN_BRACKET, skipWhiteSpace } from "./json-bytes.js";
import { textFault } from "./utf8.js";

/**
 * The fault of a frame that cannot be a JSON-RPC message, or undefined. Native speed: UTF-8 is checked to the last byte,
 * of JSON only that the frame begins as an object or array and ends as one. It spends nothing: whether a bad line ends
 * the connection is for the caller to say, frame by frame, in the order in which the decoder gave them.
 * @returns `FRAME_NOT_UTF8` with the offset of the first bad byte, `FRAME_HAS_BOM`, `FRAME_NOT_JSON`.
 */
export function checkFrame(frame: Frame): FramingError | undefined {
  return textFault(frame.bytes, frame.offset) ?? (looksLikeMessage(frame.bytes) ? undefined : notMessage(frame));
}

function looksLikeMessage(bytes: Uint8Array): boolean {
  const first = bytes[skipWhiteSpace(bytes, 0, bytes.length)];
  const last = lastByte(bytes);
  return (first === OPEN_BRACE && last === CLOSE_BRACE) || (first === OPEN_BRACKET && last === CLOSE_BRACKET);
}

function lastByte(bytes: Uint8Array): number | undefined {
  let i = bytes.length - 1;
  while (i >= 0 && isWhiteSpace(bytes[i])) i--;
  return bytes[i];
}

function notMessage({ offset }: Frame): FramingError {
  return new FramingError("FRAME_NOT_JSON", `not a JSON object at byte ${offset} of the stream`, { offset });
}
