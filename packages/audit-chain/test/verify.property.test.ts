import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { type VerifyReport, verifyLog } from "../src/index.js";
import { sha256 } from "../src/sha256.js";
import { verifyChain } from "../src/verify.js";
import { clearScratch, open, scaledTest, scratch, segmentsOf, sessionEntries, writeLog } from "./scratch.js";

interface Segment {
  readonly name: string;
  readonly bytes: Buffer;
}

let sound: Segment[] = [];
let soundReport: VerifyReport | undefined;

beforeAll(async () => {
  const directory = await writeLog(
    sessionEntries(12).map((entry) => ({ ...entry, more: "x".repeat(entry.type === "note" ? 12_000 : 3), ü: "😂" })),
    { maxSegmentBytes: 131_072 },
  );
  sound = segmentsOf(directory).map((name) => ({ name, bytes: readFileSync(join(directory, name)) }));
  soundReport = await verifyLog(directory);
  expect([sound.length, soundReport.ok]).toEqual([3, true]);
});

/** Verifies segments whose bytes come in pieces of this size, over memory that is used again. */
function verify(segments: readonly Segment[], piece: number): Promise<VerifyReport> {
  const cut = function* (bytes: Buffer): Generator<Uint8Array> {
    const memory = Buffer.alloc(piece);
    for (let from = 0; from < bytes.length; from += piece) {
      yield memory.subarray(0, bytes.copy(memory, 0, from, from + piece));
    }
  };
  return verifyChain({ segments: segments.map(({ name, bytes }) => ({ name, chunks: cut(bytes) })), sha256 });
}

/** The sound log with one segment's bytes changed. */
const withBytes = (index: number, change: (bytes: Buffer) => Buffer): Segment[] =>
  sound.map((segment, at) => (at === index ? { ...segment, bytes: change(Buffer.from(segment.bytes)) } : segment));

const pieces = fc.constantFrom(1_000, 4_096, 65_536);

it("the report is the same however the bytes are cut", scaledTest, async () => {
  const check = fc.asyncProperty(fc.integer({ min: 1, max: 70_000 }), async (piece) => {
    expect(await verify(sound, piece)).toEqual(soundReport);
  });
  await fc.assert(check, { numRuns: scaledCount("cuts of a sound log", 2_000) });
});

it("changing any byte to any other makes verification fail", scaledTest, async () => {
  const change = fc.record({
    segment: fc.nat(2),
    place: fc.nat(),
    by: fc.integer({ min: 1, max: 255 }),
    piece: pieces,
  });
  const check = fc.asyncProperty(change, async ({ segment, place, by, piece }) => {
    const damaged = withBytes(segment, (bytes) => {
      const at = place % bytes.length;
      bytes[at] = ((bytes[at] ?? 0) + by) % 256;
      return bytes;
    });
    const report = await verify(damaged, piece);
    expect(report.ok).toBe(false);
    expect(report.problems[0]?.segment).toBe(sound[segment]?.name);
  });
  await fc.assert(check, { numRuns: scaledCount("bytes changed", 40_000) });
});

it("changing each byte of a small log in turn makes verification fail and names the line that holds it", async () => {
  const directory = await writeLog(sessionEntries(1));
  const [name = ""] = segmentsOf(directory);
  const bytes = readFileSync(join(directory, name));
  for (let at = 0; at < bytes.length; at += 1) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const report = await verify([{ name, bytes: changed }], 4_096);
    const line = bytes.subarray(0, at).lastIndexOf("\n") + 1;
    expect([report.ok, report.problems[0]?.offset]).toEqual([false, line]);
  }
});

it(
  "removing, adding or repeating bytes makes verification fail, save for a cut at the end of the log",
  scaledTest,
  async () => {
    const change = fc.record({
      segment: fc.nat(2),
      from: fc.nat(),
      length: fc.integer({ min: 1, max: 30_000 }),
      put: fc.oneof(fc.constant(undefined), fc.uint8Array({ maxLength: 40 }), fc.constant("again" as const)),
      piece: pieces,
    });
    const check = fc.asyncProperty(change, async ({ segment, from, length, put, piece }) => {
      const original = sound[segment]?.bytes ?? Buffer.alloc(0);
      const start = from % original.length;
      const middle = original.subarray(start, start + length);
      const replacement = put === "again" ? Buffer.concat([middle, middle]) : Buffer.from(put ?? []);
      const changed = Buffer.concat([original.subarray(0, start), replacement, original.subarray(start + length)]);
      if (changed.equals(original)) return;
      const report = await verify(
        withBytes(segment, () => changed),
        piece,
      );
      // Behind its last whole line a log may end in debris of one more; what was whole must be as it was.
      const whole = changed.subarray(0, changed.lastIndexOf("\n") + 1);
      const isCut = segment === 2 && original.subarray(0, whole.length).equals(whole);
      if (!isCut) expect(report.ok).toBe(false);
      else if (!report.ok) expect(report.problems).toEqual([expect.objectContaining({ code: "TAIL_DAMAGED" })]);
    });
    await fc.assert(check, { numRuns: scaledCount("pieces moved", 40_000) });
  },
);

it("any order of lines but their own makes verification fail", scaledTest, async () => {
  const lines = sound.flatMap(({ bytes }) => bytes.toString().split("\n").slice(0, -1));
  const indices = lines.map((_, index) => index);
  const check = fc.asyncProperty(fc.shuffledSubarray(indices, { minLength: 1 }), async (order) => {
    const isStart = order.every((index, at) => index === at);
    const bytes = Buffer.from(order.map((index) => `${lines[index]}\n`).join(""));
    const report = await verify([{ name: "all", bytes }], 65_536);
    expect(report.ok).toBe(isStart);
  });
  await fc.assert(check, { numRuns: scaledCount("orders of lines", 4_000) });
});

it(
  "a log that verifies opens, and goes on where its last whole entry ends, wherever it was cut",
  scaledTest,
  async () => {
    const check = fc.asyncProperty(fc.nat(), async (cut) => {
      const directory = join(scratch(), "log");
      mkdirSync(directory);
      const total = sound.reduce((sum, { bytes }) => sum + bytes.length, 0);
      let left = cut % (total + 1);
      for (const { name, bytes } of sound) {
        writeFileSync(join(directory, name), bytes.subarray(0, left));
        left -= bytes.length;
        if (left < 0) break;
      }
      const before = await verifyLog(directory);
      expect(before.problems).toEqual([]);
      const chain = await open(directory, { maxSegmentBytes: 131_072 });
      expect(chain.head.sequence).toBe(before.entries + (chain.recovered === undefined ? 0 : 1));
      await chain.append({ type: "after" });
      await chain.close();
      expect(await verifyLog(directory)).toMatchObject({ ok: true, entries: chain.head.sequence });
    });
    await fc.assert(check.afterEach(clearScratch), { numRuns: scaledCount("logs cut and opened", 2_000) });
  },
);
