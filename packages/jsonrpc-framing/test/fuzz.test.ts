import assert from "node:assert/strict";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import {
  checkFrame,
  createHeaderDecoder,
  createLineDecoder,
  encodeHeaderFrame,
  encodeLine,
  type Frame,
  type FrameDecoder,
  isFramingError,
  parseMessage,
  scanEnvelope,
  splitArray,
  splitObject,
} from "../src/index.js";
import { cut, places } from "./cuts.js";
import { damage } from "./damage.js";
import { heldBytes } from "./garbage.js";
import { messageText, valueText } from "./json-text.js";

const count = scaledCount("framing fuzz inputs", 1_000_000);

/** The result, or undefined when it was refused with a FramingError. Anything else that is thrown is a crash. */
function unlessRefused<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (isFramingError(error)) return undefined;
    throw error;
  }
}

/** All frames up to the first fault, with what the bounds promise checked on the way. */
function decode(decoder: FrameDecoder, chunks: readonly Uint8Array[], maxBufferedBytes: number): readonly Frame[] {
  const frames: Frame[] = [];
  for (const chunk of chunks) {
    const more = unlessRefused(() => decoder.push(chunk));
    if (more === undefined) return frames;
    frames.push(...more);
    assert(decoder.bufferedBytes <= maxBufferedBytes);
  }
  return [...frames, ...(unlessRefused(() => decoder.end()) ?? [])];
}

// node:assert in the loop: vitest's expect takes longer than what it checks here.

/** Everything that takes a frame's bytes: each either answers or refuses, and they agree. */
function readFrame(frame: Frame): void {
  const { bytes } = frame;
  const fault = checkFrame(frame);
  const shallow = unlessRefused(() => scanEnvelope(bytes, ["name", "_meta"]));
  const full = unlessRefused(() => scanEnvelope(bytes, undefined, { grammar: "full" }));
  const message = unlessRefused(() => parseMessage(bytes, { maxDepth: 10_000 }));
  unlessRefused(() => parseMessage(bytes, { duplicateKeys: "refuse", protoKeys: "refuse", params: "object" }));
  const whole = { start: 0, end: bytes.length };
  unlessRefused(() => splitObject(bytes, whole));
  unlessRefused(() => splitArray(bytes, whole));
  if (fault !== undefined) assert.deepEqual([shallow, full, message], [undefined, undefined, undefined]);
  if (full !== undefined) assert.deepEqual({ ...shallow, members: undefined }, full);
  if (message === undefined) return;
  assert.equal(full?.kind, message.kind);
  assert.equal(full?.id?.value, "id" in message ? message.id : undefined);
  const again = parseMessage(encodeLine(message.value), { maxDepth: 10_000 });
  assert.equal(JSON.stringify(again), JSON.stringify(message)); // as text: JSON writes -0 as 0
}

/** One generated input, from the bytes of a stream to messages. */
function takeStream(bytes: Buffer, at: readonly number[], maxFrameBytes: number, oversize: "fail" | "skip"): void {
  const chunks = cut(bytes, at);
  const onOversize = (): void => undefined;
  const unterminated = bytes.length % 2 === 0 ? "accept" : "reject";
  const lines = createLineDecoder({ maxFrameBytes, oversize, onOversize, unterminated });
  const bodies = createHeaderDecoder({ maxFrameBytes, oversize, onOversize, maxHeaderBytes: 64 });
  for (const frame of decode(lines, chunks, maxFrameBytes + 1)) readFrame(frame);
  for (const frame of decode(bodies, chunks, maxFrameBytes + 64)) readFrame(frame);
  readFrame({ bytes, offset: 0 });
}

// Most inputs are refused, and under vitest an error captures a hundred stack frames: half of the whole time.
const { stackTraceLimit } = Error;
beforeAll(() => {
  Error.stackTraceLimit = 0;
});
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

describe("fuzzing", () => {
  it(`${count} inputs neither crash, hang nor fill memory`, { timeout: 60_000 + count * 2 }, () => {
    const texts = fc.sample(fc.oneof({ weight: 4, arbitrary: messageText }, valueText), 3000);
    const known = fc.nat({ max: texts.length - 1 }).map((index) => Buffer.from(texts[index] ?? ""));
    const piece = fc.oneof(
      { weight: 3, arbitrary: known },
      { weight: 4, arbitrary: fc.tuple(known, damage).map(([text, harm]) => harm(text)) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom("\n", "\r\n", "\n\n", "\ufeff", "Content-Length: 2\r\n\r\n")
          .map((text) => Buffer.from(text)),
      },
      { weight: 1, arbitrary: known.map((text) => Buffer.from(encodeHeaderFrame(text))) },
    );
    const stream = fc.array(piece, { maxLength: 3 }).map((pieces) => Buffer.concat(pieces));
    const limit = fc.constantFrom(1, 16, 64, 256, 1024, 65_536);
    const mode = fc.constantFrom<"fail" | "skip">("fail", "skip");
    const before = heldBytes();
    let slowest = 0;
    fc.assert(
      fc.property(stream, places, limit, mode, (bytes, at, maxFrameBytes, oversize) => {
        const start = performance.now();
        takeStream(bytes, at, maxFrameBytes, oversize);
        slowest = Math.max(slowest, performance.now() - start);
      }),
      { numRuns: count },
    );
    expect(slowest).toBeLessThan(2000);
    expect(heldBytes() - before).toBeLessThan(64 * 1024 * 1024);
  });
});
