import fc from "fast-check";
import type { Frame, FrameDecoder } from "../src/index.js";

/** The bytes cut at these places (any order, any number). */
export function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.slice(index === 0 ? 0 : ends[index - 1], end));
}

/** Places to cut at. */
export const places: fc.Arbitrary<number[]> = fc.array(fc.nat(), { maxLength: 12 });

/** A frame's text and place. */
export function seen(frame: Frame): { text: string; offset: number } {
  return { text: Buffer.from(frame.bytes).toString("latin1"), offset: frame.offset };
}

/** Every frame of the chunks, the end of the stream included. */
export function decodeAll(decoder: FrameDecoder, chunks: readonly Uint8Array[]): ReturnType<typeof seen>[] {
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()].map(seen);
}
