// Works on the inner openChainWith: errors of single calls cannot be had from the system when a test wants them.
import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { openChainWith } from "../src/append.js";
import { type Chain, type Durability, verifyLog } from "../src/index.js";
import { type SegmentFiles, segmentFilesIn, type WriteCall } from "../src/segment-file.js";
import {
  clearScratch,
  entriesOf,
  logFolder,
  open,
  rejection,
  scaledTest,
  segmentsOf,
  tickingClock,
} from "./scratch.js";

const systemError = (code: string): Error => Object.assign(new Error(`${code}: a fault that was put in`), { code });

function openOn(files: SegmentFiles, directory: string, durability: Durability, release = (): void => {}) {
  const parts = {
    files: () => files,
    lock: () => Promise.resolve({ release }),
    schedule: () => () => {},
  };
  return openChainWith({ directory, durability, now: tickingClock(), maxSegmentBytes: 131_072 }, parts);
}

/** Appends in turns of a few until one fails or there are no more; answers what was acknowledged. */
async function appendAll(chain: Chain, count: number): Promise<{ acknowledged: number[]; failures: unknown[] }> {
  const settled = await Promise.allSettled(
    Array.from({ length: count }, (_, index) => chain.append({ type: "note", index, text: "x".repeat(10_000) })),
  );
  return {
    acknowledged: settled.flatMap((result) => (result.status === "fulfilled" ? [result.value.sequence] : [])),
    failures: settled.flatMap((result) => (result.status === "rejected" ? [result.reason] : [])),
  };
}

describe.each(["each", "batch"] as const)("durability %s", (durability) => {
  it.each(["EIO", "EINTR", "ENOSPC", "EDQUOT"])(
    "a write that ends with %s after a part of the bytes fails the append, and its bytes are taken back",
    async (code) => {
      const directory = logFolder();
      let left = 200;
      const write: WriteCall = (descriptor, bytes, offset) => {
        if (bytes.length < 5_000) return writeSync(descriptor, bytes, offset);
        if (left === 0) throw systemError(code);
        const length = Math.min(left, bytes.length - offset);
        left -= length;
        return writeSync(descriptor, bytes, offset, length);
      };
      const chain = await openOn(segmentFilesIn(directory, write), directory, durability);
      await chain.append({ type: "small" });
      const before = readFileSync(join(directory, segmentsOf(directory)[0] ?? ""));
      const error = await rejection(chain.append({ type: "note", text: "x".repeat(10_000) }));
      expect(error).toMatchObject({ code: "WRITE_FAILED", cause: { code } });
      expect(readFileSync(join(directory, segmentsOf(directory)[0] ?? ""))).toEqual(before);
      expect(await rejection(chain.append({ type: "small" }))).toMatchObject({ code: "CHAIN_FAILED" });
      await chain.close();
      expect((await verifyLog(directory, { strict: true })).entries).toBe(1);
    },
  );

  it("a file system that takes no bytes and gives no error fails the append, and does not hold the process up", async () => {
    const directory = logFolder();
    let taking = true;
    const write: WriteCall = (descriptor, bytes, offset) => (taking ? writeSync(descriptor, bytes, offset) : 0);
    const chain = await openOn(segmentFilesIn(directory, write), directory, durability);
    taking = false;
    expect(await rejection(chain.append({ type: "a" }))).toMatchObject({ code: "WRITE_FAILED" });
    await chain.close();
  });

  it("a next segment that cannot be made fails what was meant for it, and nothing that was written before", async () => {
    const directory = logFolder();
    const real = segmentFilesIn(directory);
    let made = 0;
    const create = (name: string) => {
      made += 1;
      if (made > 1) throw systemError("ENOSPC");
      return real.create(name);
    };
    const chain = await openOn({ ...real, create }, directory, durability);
    const { acknowledged, failures } = await appendAll(chain, 20);
    expect(acknowledged.length).toBeGreaterThan(5);
    expect(failures.length).toBe(20 - acknowledged.length);
    for (const failure of failures) expect(failure).toMatchObject({ cause: { code: "ENOSPC" } });
    expect(chain.head.sequence).toBe(acknowledged.length);
    await chain.close();
    expect((await entriesOf(directory)).map(({ seq }) => seq)).toEqual(acknowledged);
  });
});

it(
  "however a disk cuts writes up and fails, what was acknowledged is there and the log opens again",
  scaledTest,
  async () => {
    const answers = fc.array(
      fc.oneof(
        { weight: 8, arbitrary: fc.integer({ min: 1, max: 40_000 }) },
        { weight: 1, arbitrary: fc.constantFrom("EIO", "ENOSPC", "EINTR") },
      ),
      { minLength: 1, maxLength: 30 },
    );
    const durabilities = fc.constantFrom("each" as const, "batch" as const);
    const check = fc.asyncProperty(durabilities, answers, async (durability, script) => {
      const directory = logFolder();
      let index = 0;
      const write: WriteCall = (descriptor, bytes, offset) => {
        const answer = script[index++ % script.length] ?? 1;
        if (typeof answer === "string") throw systemError(answer);
        return writeSync(descriptor, bytes, offset, Math.min(answer, bytes.length - offset));
      };
      const chain = await openOn(segmentFilesIn(directory, write), directory, durability).catch(() => undefined);
      const acknowledged: number[] = [];
      for (let turn = 0; chain !== undefined && turn < 4; turn += 1) {
        acknowledged.push(...(await appendAll(chain, 7)).acknowledged);
      }
      await chain?.close();
      const reopened = await open(directory, { now: tickingClock(Date.parse("2027-01-01T00:00:00.000Z")) });
      await reopened.close();
      const kept = new Set((await entriesOf(directory)).map(({ seq }) => seq));
      for (const sequence of acknowledged) expect(kept.has(sequence)).toBe(true);
      expect((await verifyLog(directory, { strict: true })).problems).toEqual([]);
    });
    await fc.assert(check.afterEach(clearScratch), { numRuns: scaledCount("disks that cut writes up", 2_000) });
  },
);

it("a file that cannot be closed once it was synced takes nothing away", async () => {
  const directory = logFolder();
  const real = segmentFilesIn(directory);
  const create = (name: string) => {
    const file = real.create(name);
    return { ...file, close: () => file.close().then(() => Promise.reject(systemError("EIO"))) };
  };
  const chain = await openOn({ ...real, create }, directory, "batch");
  await chain.append({ type: "a" });
  await chain.close();
  expect((await verifyLog(directory)).entries).toBe(1);
});

it("a lock that cannot be marked as released is told by close, once everything was kept", async () => {
  const directory = logFolder();
  const chain = await openOn(segmentFilesIn(directory), directory, "batch", () => {
    throw systemError("EIO");
  });
  await chain.append({ type: "a" });
  expect(await rejection(chain.close())).toMatchObject({ code: "WRITE_FAILED", cause: { code: "EIO" } });
  expect((await verifyLog(directory)).entries).toBe(1);
});
