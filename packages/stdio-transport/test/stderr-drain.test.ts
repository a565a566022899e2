// The parts behind `child.stderr` and `onStderrLine`, by themselves: what they keep must not depend on how bytes are cut.
import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineSplitter } from "../src/line-splitter.js";
import { drainStderr } from "../src/stderr-drain.js";
import { createTail } from "../src/tail.js";

const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 });
const joined = (parts: readonly Uint8Array[]): Buffer => Buffer.concat(parts);

describe("the tail of a stream", () => {
  it("is its last bytes, however they were cut", () => {
    fc.assert(
      fc.property(chunks, fc.integer({ min: 0, max: 50 }), (parts, capacity) => {
        const tail = createTail(capacity);
        for (const part of parts) tail.push(part);
        const all = joined(parts);
        expect(Buffer.from(tail.read())).toEqual(all.subarray(Math.max(0, all.length - capacity)));
      }),
    );
  });

  it("is a copy", () => {
    const tail = createTail(4);
    tail.push(Buffer.from("abcdef"));
    tail.read().fill(0);
    expect(Buffer.from(tail.read()).toString()).toBe("cdef");
  });
});

describe("lines for a logger", () => {
  const linesOf = (parts: readonly Uint8Array[], maxLineBytes: number): string[] => {
    const lines: string[] = [];
    const splitter = createLineSplitter(maxLineBytes, (line) => lines.push(line));
    for (const part of parts) splitter.push(part);
    splitter.end();
    return lines;
  };

  it("are the same however the bytes were cut", () => {
    const bytes = fc.array(fc.constantFrom(0x0a, 0x0d, 0x61, 0x62, 0xc3, 0xbc, 0xff), { maxLength: 80 });
    fc.assert(
      fc.property(
        bytes,
        fc.array(fc.nat(80), { maxLength: 8 }),
        fc.integer({ min: 1, max: 12 }),
        (all, cuts, limit) => {
          const whole = Uint8Array.from(all);
          const places = [0, ...cuts.filter((cut) => cut < whole.length).toSorted((a, b) => a - b), whole.length];
          const parts = places.slice(1).map((place, index) => whole.slice(places[index], place));
          expect(linesOf(parts, limit)).toEqual(linesOf([whole], limit));
        },
      ),
    );
  });

  it("lose their line ends and keep what is between", () => {
    expect(linesOf([Buffer.from("one\r\ntwo\n\nthree ü")], 80)).toEqual(["one", "two", "", "three ü"]);
  });

  it("are cut at the limit, and say how much is missing", () => {
    const [line, next] = linesOf([Buffer.from(`${"x".repeat(1_000)}\nnext\n`)], 80);
    expect(line).toBe(`${"x".repeat(80)} … 920 bytes left out`);
    expect(next).toBe("next");
  });

  it("hold no more than the limit of a line that never ends", () => {
    const splitter = createLineSplitter(1_024, () => undefined);
    const chunk = Buffer.alloc(65_536, 0x78);
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 1_000; count++) splitter.push(chunk);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1_048_576);
  });
});

it("counts every byte, and gives out the last line when the stream closes", async () => {
  const stream = new PassThrough();
  const lines: string[] = [];
  const record = drainStderr(stream, { tailBytes: 6, maxLineBytes: 80, onLine: (line) => lines.push(line) });
  for (const part of ["first\nsec", "ond", " line"]) stream.write(part);
  stream.end();
  await new Promise((resolve) => stream.once("close", resolve));
  expect(record.byteCount).toBe(17);
  expect(Buffer.from(record.tail()).toString()).toBe("d line");
  expect(lines).toEqual(["first", "second line"]);
});
