import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorMs } from "../../../fixtures/processor-time.js";
import type { FrameDecoder, OversizeFrame } from "../src/index.js";
import { cut, decodeAll, places, seen } from "./cuts.js";
import { heldBytes } from "./garbage.js";
import { thrown } from "./thrown.js";

/** What the suite needs to know of a codec. */
export interface CodecUnderTest {
  create(options: {
    maxFrameBytes?: number;
    oversize?: "fail" | "skip";
    onOversize?: (frame: OversizeFrame) => void;
  }): FrameDecoder;
  /** A body as it stands in the stream. */
  wrap(body: Uint8Array): Uint8Array;
  /** How far into `wrap(body)` the body begins. */
  lead(body: Uint8Array): number;
}

const bodyOf = (length: number): Buffer => Buffer.alloc(length, "x");
const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
/** Bodies that every codec can carry: no line feed, not blank. */
const body = fc
  .uint8Array({ minLength: 1, maxLength: 60 })
  .map((bytes) => Uint8Array.from([0x7b, ...bytes.map((byte) => (byte === 10 || byte === 13 ? 0x20 : byte))]));

/** What every FrameDecoder promises. */
export function describeFrameDecoder(name: string, codec: CodecUnderTest): void {
  const stream = (bodies: readonly Uint8Array[]): Buffer => Buffer.concat(bodies.map((one) => codec.wrap(one)));
  const placed = (bodies: readonly Uint8Array[]): { text: string; offset: number }[] => {
    let offset = 0;
    return bodies.map((one) => {
      const frame = { text: latin1(one), offset: offset + codec.lead(one) };
      offset += codec.wrap(one).length;
      return frame;
    });
  };

  describe(`${name}: every FrameDecoder`, () => {
    it("gives the same frames at the same offsets however the bytes are cut", () => {
      fc.assert(
        fc.property(fc.array(body, { maxLength: 6 }), places, (bodies, at) => {
          expect(decodeAll(codec.create({}), cut(stream(bodies), at))).toEqual(placed(bodies));
        }),
        { numRuns: 500 },
      );
    });

    it("gives the same frames at every single cut of a text with characters of 1 to 4 bytes", () => {
      const bodies = ['{"a":"é漢😀\u2028\u0085"}', '{"b":1}'].map((text) => Buffer.from(text));
      const bytes = stream(bodies);
      for (let at = 0; at <= bytes.length; at++) {
        expect(decodeAll(codec.create({}), cut(bytes, [at]))).toEqual(placed(bodies));
      }
      expect(
        decodeAll(
          codec.create({}),
          [...bytes].map((byte) => Uint8Array.of(byte)),
        ),
      ).toEqual(placed(bodies));
    });

    it.each([99, 100, 101])(
      "counts one message: %i bytes under a limit of 100, a second message in the same chunk",
      (length) => {
        const bodies = [bodyOf(length), bodyOf(100)];
        const skipped: OversizeFrame[] = [];
        const decoder = codec.create({
          maxFrameBytes: 100,
          oversize: "skip",
          onOversize: (frame) => skipped.push(frame),
        });
        const frames = [...decoder.push(stream(bodies)), ...decoder.end()].map(seen);
        expect(frames).toEqual(length > 100 ? placed(bodies).slice(1) : placed(bodies));
        expect(skipped.map((frame) => [frame.offset, frame.byteLength])).toEqual(
          length > 100 ? [[codec.lead(bodyOf(length)), length]] : [],
        );
      },
    );

    it("delivers with the fault the frames that were complete before it", () => {
      const decoder = codec.create({ maxFrameBytes: 100 });
      const bodies = [bodyOf(5), bodyOf(100), bodyOf(101), bodyOf(7)];
      const error = thrown(() => decoder.push(stream(bodies)));
      expect(error).toMatchObject({ code: "FRAME_TOO_LARGE", offset: placed(bodies)[2]?.offset });
      expect(error.frames.map(seen)).toEqual(placed(bodies).slice(0, 2));
    });

    it("is spent after FRAME_TOO_LARGE, and does not deliver frames twice", () => {
      const decoder = codec.create({ maxFrameBytes: 100 });
      thrown(() => decoder.push(stream([bodyOf(5), bodyOf(101)])));
      for (const again of [() => decoder.push(stream([bodyOf(1)])), () => decoder.end()]) {
        expect(thrown(again)).toMatchObject({ code: "FRAME_TOO_LARGE", frames: [] });
      }
      expect(decoder.bufferedBytes).toBe(0);
    });

    it("holds at most the limit and a few bytes, whatever comes", () => {
      const decoder = codec.create({ maxFrameBytes: 1000, oversize: "skip" });
      const bytes = stream([bodyOf(999), bodyOf(100_000), bodyOf(1000)]);
      let most = 0;
      for (const byte of bytes) {
        decoder.push(Uint8Array.of(byte));
        most = Math.max(most, decoder.bufferedBytes);
      }
      expect(most).toBeLessThanOrEqual(1001);
      expect(decoder.bufferedBytes).toBe(0);
    });

    it("skips 64 MiB in constant memory", () => {
      const chunk = Buffer.alloc(65_536, "y");
      const [lead, rest] = splitAt(codec.wrap(bodyOf(64 * 1024 * 1024)), 64);
      const skipped: OversizeFrame[] = [];
      const decoder = codec.create({
        maxFrameBytes: 1024,
        oversize: "skip",
        onOversize: (frame) => skipped.push(frame),
      });
      decoder.push(lead);
      const before = heldBytes();
      let left = rest;
      for (; left > chunk.length; left -= chunk.length) decoder.push(chunk);
      expect(heldBytes() - before).toBeLessThan(1024 * 1024);
      expect(skipped).toEqual([]);
    });

    it("takes memory of the order of the bytes held when they come one by one", () => {
      const decoder = codec.create({});
      const bytes = codec.wrap(bodyOf(300_000));
      const before = heldBytes();
      for (const byte of bytes.subarray(0, 299_000)) decoder.push(Uint8Array.of(byte));
      expect(heldBytes() - before).toBeLessThan(1_000_000);
      expect(decoder.push(bytes.subarray(299_000))).toHaveLength(1);
    });

    it("keeps no reference to a chunk when nothing is held", () => {
      const decoder = codec.create({});
      const before = heldBytes();
      const push = (): void => {
        decoder.push(codec.wrap(bodyOf(8 * 1024 * 1024)));
      };
      push();
      expect(heldBytes() - before).toBeLessThan(1024 * 1024);
      expect(decoder.bufferedBytes).toBe(0);
    });

    it("ends again without effect, and refuses to be pushed after its end", () => {
      const decoder = codec.create({});
      decoder.push(stream([bodyOf(3)]));
      expect(decoder.end()).toEqual([]);
      expect(decoder.end()).toEqual([]);
      expect(() => decoder.push(stream([bodyOf(3)]))).toThrow("push after end");
    });

    it("counts the bytes pushed", () => {
      const decoder = codec.create({});
      decoder.push(bodyOf(3));
      decoder.push(bodyOf(0));
      expect(decoder.offset).toBe(3);
    });

    it("is spent when onOversize throws, with that error", () => {
      const bug = new Error("bug of the caller");
      const decoder = codec.create({
        maxFrameBytes: 10,
        oversize: "skip",
        onOversize() {
          throw bug;
        },
      });
      expect(() => decoder.push(stream([bodyOf(11)]))).toThrow(bug);
      expect(() => decoder.push(stream([bodyOf(1)]))).toThrow(bug);
    });

    it.each([
      { maxFrameBytes: 0 },
      { maxFrameBytes: 1.5 },
      { maxFrameBytes: 268_435_457 },
      { maxFrameBytes: Number.NaN },
    ])("refuses $maxFrameBytes as a limit", (options) => {
      expect(() => codec.create(options)).toThrow(RangeError);
    });

    it("takes time linear in the size of a message that comes in 1 KiB chunks", () => {
      const small = fastest(() => feed(codec, 8));
      const large = fastest(() => feed(codec, 16));
      // Copying all that is held for each chunk takes seconds here; what garbage collection adds is tens of milliseconds.
      expect(large).toBeLessThan(3 * small + 100);
    });
  });
}

function splitAt(bytes: Uint8Array, at: number): [Uint8Array, number] {
  return [bytes.slice(0, at), bytes.length - at];
}

function feed(codec: CodecUnderTest, mebibytes: number): void {
  const bytes = codec.wrap(bodyOf(mebibytes * 1024 * 1024));
  const decoder = codec.create({ maxFrameBytes: bytes.length });
  for (let at = 0; at < bytes.length; at += 1024) decoder.push(bytes.subarray(at, at + 1024));
}

/** The least processor time of a few runs, in milliseconds, since noise only ever adds. */
export function fastest(run: () => void, rounds = 5): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    least = Math.min(least, processorMs(run));
  }
  return least;
}
