import { isUtf8 } from "node:buffer";
import { FramingError } from "./errors.js";

/** Why the bytes are not UTF-8 text without a byte order mark, if they are not; `base` is added to the offset. */
export function textFault(bytes: Uint8Array, base: number): FramingError | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return new FramingError("FRAME_HAS_BOM", "the frame begins with a byte order mark", { offset: base });
  }
  if (isUtf8(bytes)) return undefined;
  const at = firstBadByte(bytes);
  const hex = (bytes[at] ?? 0).toString(16).padStart(2, "0");
  return new FramingError("FRAME_NOT_UTF8", `not UTF-8: byte 0x${hex} at ${base + at}`, { offset: base + at });
}

/** Throws the `textFault` of a frame's bytes. */
export function requireText(bytes: Uint8Array): void {
  const fault = textFault(bytes, 0);
  if (fault !== undefined) throw fault;
}

/** How many bytes a character that begins with this byte has; 0 when none begins so (RFC 3629 § 4). */
function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

/** Whether `second` may follow `lead`: excludes overlong forms, surrogates and what is above U+10FFFF. */
function mayFollow(lead: number, second: number): boolean {
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  return second >= low && second <= high;
}

/** Where the first sequence begins that is not UTF-8. Only called when there is one. */
function firstBadByte(bytes: Uint8Array): number {
  let i = 0;
  for (;;) {
    const lead = bytes[i] ?? 0xff;
    const length = sequenceLength(lead);
    if (length === 0) return i;
    for (let k = 1; k < length; k++) {
      const next = bytes[i + k] ?? 0;
      if (k === 1 ? !mayFollow(lead, next) : (next & 0xc0) !== 0x80) return i;
    }
    i += length;
  }
}

/** Checks UTF-8 over chunks cut anywhere. */
export interface Utf8Check {
  /** Takes the next chunk. */
  push(bytes: Uint8Array): void;
  /** Whether all that came was UTF-8 and ended with a whole character. */
  finish(): boolean;
}

/** See `Utf8Check`. Holds at most three bytes. */
export function createUtf8Check(): Utf8Check {
  let valid = true;
  let rest = new Uint8Array(0);
  const push = (bytes: Uint8Array): void => {
    if (!valid) return;
    let body = bytes;
    if (rest.length > 0) {
      // A character was cut: complete it from at most three bytes, then go on with the chunk's own memory.
      const lead = rest[0] ?? 0;
      const missing = Math.min(sequenceLength(lead) - rest.length, bytes.length);
      const joined = Uint8Array.of(...rest, ...bytes.subarray(0, missing));
      rest = new Uint8Array(0);
      body = bytes.subarray(missing);
      if (joined.length < sequenceLength(lead)) rest = joined;
      else valid = isUtf8(joined);
    }
    const cut = cutCharacter(body);
    valid = valid && isUtf8(body.subarray(0, body.length - cut));
    if (cut > 0) rest = Uint8Array.from(body.subarray(body.length - cut));
  };
  return { push, finish: () => valid && rest.length === 0 };
}

/** How many bytes at the end may be the beginning of a character that goes on in the next chunk. */
function cutCharacter(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) !== 0x80) return sequenceLength(byte) > back ? back : 0;
  }
  return 0;
}
