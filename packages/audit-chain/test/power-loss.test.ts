// Works on the inner openChainWith: a disk that forgets what was not synced cannot be had from the system.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { openChainWith } from "../src/append.js";
import { type ChainOptions, type Durability, verifyLog } from "../src/index.js";
import { type SegmentFile, type SegmentFiles, segmentFilesIn } from "../src/segment-file.js";
import { clearScratch, entriesOf, open, rejection, scaledTest, scratch, tickingClock } from "./scratch.js";

/** Segment files that remember which bytes a power loss would leave. */
interface Disk {
  readonly files: SegmentFiles;
  /** Syncs done. */
  readonly syncs: () => number;
  /** Lets a waiting sync end, well or with an error. */
  release(error?: Error): void;
  /** Cuts each file to what was synced plus a part of the rest; files that were never synced may be gone. */
  losePower(part: () => number): void;
}

function createDisk(directory: string, mode: "free" | "held"): Disk {
  const synced = new Map<string, number>();
  const real = segmentFilesIn(directory);
  let syncs = 0;
  let held: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const watched = (file: SegmentFile): SegmentFile => {
    let running: Promise<void> = Promise.resolve();
    const sync = async (): Promise<void> => {
      const { size } = file;
      if (mode === "held") await new Promise<void>((resolve, reject) => held.push({ resolve, reject }));
      await file.sync();
      note(size);
    };
    const note = (size: number): void => {
      syncs += 1;
      synced.set(file.name, Math.max(size, synced.get(file.name) ?? 0));
    };
    return {
      name: file.name,
      get size() {
        return file.size;
      },
      write: (bytes) => file.write(bytes),
      sync: () => {
        running = sync();
        return running;
      },
      syncNow: () => {
        file.syncNow();
        note(file.size);
      },
      close: () => running.catch(() => {}).then(() => file.close()),
    };
  };
  return {
    files: {
      create: (name) => watched(real.create(name)),
      reopen: (name) => watched(real.reopen(name)),
      cut: real.cut,
    },
    syncs: () => syncs,
    release: (error) => {
      const waiting = held;
      held = [];
      for (const { resolve, reject } of waiting) error === undefined ? resolve() : reject(error);
    },
    losePower: (part) => {
      for (const name of readdirSync(directory).filter((file) => file.endsWith(".jsonl"))) {
        const path = join(directory, name);
        const kept = synced.get(name) ?? 0;
        const { size } = statSync(path);
        truncateSync(path, kept + Math.floor((size - kept) * part()));
        if (!synced.has(name) && part() < 0.5) rmSync(path);
      }
    },
  };
}

/** A chain on such a disk, with timers that run when they are told. */
async function openOn(directory: string, disk: Disk, options: Partial<ChainOptions>) {
  const timers: (() => void)[] = [];
  const parts = {
    files: () => disk.files,
    lock: () => Promise.resolve({ release: () => {} }),
    schedule: (run: () => void) => {
      timers.push(run);
      return () => {};
    },
  };
  const chain = await openChainWith({ directory, now: tickingClock(), ...options }, parts);
  const tick = (): void => {
    for (const run of timers.splice(0)) run();
  };
  return { chain, tick, timers };
}

interface Step {
  readonly step: "append" | "sync" | "turn" | "tick";
  readonly bytes?: number;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets every sync end until the promise does. */
async function releasing<T>(disk: Disk, promise: Promise<T>): Promise<T> {
  let ended = false;
  const end = (): void => {
    ended = true;
  };
  promise.then(end, end);
  while (!ended) {
    disk.release();
    await turn();
  }
  return promise;
}

/** What survived, read through a copy that has no lock. */
async function survivors(directory: string): Promise<string[]> {
  const copy = join(scratch(), "log");
  mkdirSync(copy);
  for (const name of readdirSync(directory)) writeFileSync(join(copy, name), readFileSync(join(directory, name)));
  const reopened = await open(copy, { logId: "log" });
  await reopened.close();
  const report = await verifyLog(copy, { strict: true });
  expect(report.problems).toEqual([]);
  return (await entriesOf(copy)).filter(({ type }) => type === "note").map(({ hash }) => hash);
}

describe("a power loss that keeps any part of what was not synced", () => {
  it(
    "costs no entry that was acknowledged under each, and leaves a log that opens, at every level",
    scaledTest,
    async () => {
      const steps = fc.array(
        fc.oneof(
          {
            weight: 6,
            arbitrary: fc.record({ step: fc.constant("append" as const), bytes: fc.integer({ min: 0, max: 30_000 }) }),
          },
          {
            weight: 2,
            arbitrary: fc.record({ step: fc.constantFrom("sync" as const, "turn" as const, "tick" as const) }),
          },
        ),
        { maxLength: 40 },
      );
      const run = async (durability: Durability, script: readonly Step[], parts: readonly number[]): Promise<void> => {
        const directory = join(scratch(), "log");
        const disk = createDisk(directory, "held");
        const { chain, tick } = await releasing(
          disk,
          openOn(directory, disk, { durability, maxSegmentBytes: 131_072 }),
        );
        const acknowledged: string[] = [];
        const appended: Promise<unknown>[] = [];
        for (const { step, bytes } of script) {
          if (step === "append") {
            const append = chain.append({ type: "note", text: "x".repeat(bytes ?? 0) });
            appended.push(append.then(({ hash }) => acknowledged.push(hash)));
          } else if (step === "sync") disk.release();
          else if (step === "tick") tick();
          await (step === "turn" ? turn() : undefined);
        }
        await turn();
        const certain = durability === "each" ? [...acknowledged] : [];
        let index = 0;
        disk.losePower(() => parts[index++ % parts.length] ?? 0);
        const kept = new Set(await survivors(directory));
        for (const hash of certain) expect(kept.has(hash)).toBe(true);
        await releasing(disk, chain.close());
        await Promise.all(appended);
      };
      const parts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 6 });
      const check = fc.asyncProperty(
        fc.constantFrom("each" as const, "batch" as const, "none" as const),
        steps,
        parts,
        run,
      );
      await fc.assert(check.afterEach(clearScratch), { numRuns: scaledCount("power losses", 4_000) });
    },
  );
});

describe("durability each", () => {
  it("acknowledges nothing before the sync that covers it has ended", async () => {
    const directory = join(scratch(), "log");
    const disk = createDisk(directory, "free");
    const { chain } = await openOn(directory, disk, { durability: "each" });
    const before = disk.syncs();
    await chain.append({ type: "note" });
    expect(disk.syncs()).toBe(before + 1);
    await chain.close();
  });

  it("shares one sync among the entries that wait together", async () => {
    const directory = join(scratch(), "log");
    const disk = createDisk(directory, "free");
    const { chain } = await openOn(directory, disk, { durability: "each" });
    const before = disk.syncs();
    await Promise.all(Array.from({ length: 200 }, () => chain.append({ type: "note" })));
    expect(disk.syncs() - before).toBeLessThanOrEqual(2);
    await chain.close();
  });
});

describe("durability batch", () => {
  it("acknowledges before the sync, which comes within syncMs, once for all that was written until then", async () => {
    const directory = join(scratch(), "log");
    const disk = createDisk(directory, "free");
    const { chain, tick, timers } = await openOn(directory, disk, { durability: "batch" });
    for (let index = 0; index < 50; index += 1) await chain.append({ type: "note" });
    expect([disk.syncs(), timers.length]).toEqual([0, 1]);
    tick();
    await chain.flush();
    expect(disk.syncs()).toBeLessThanOrEqual(2);
    await chain.append({ type: "note" });
    expect(timers).toHaveLength(1);
    await chain.close();
  });
});

describe("durability none", () => {
  it("syncs only at flush and close", async () => {
    const directory = join(scratch(), "log");
    const disk = createDisk(directory, "free");
    const { chain, timers } = await openOn(directory, disk, { durability: "none" });
    for (let index = 0; index < 50; index += 1) await chain.append({ type: "note" });
    await turn();
    expect([disk.syncs(), timers.length]).toEqual([0, 0]);
    await chain.flush();
    expect(disk.syncs()).toBe(1);
    await chain.close();
    expect(disk.syncs()).toBe(2);
  });
});

describe("a sync that fails", () => {
  const failure = Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });

  it("rejects the entries that wait for it, and everything after, also when a later sync would succeed", async () => {
    const directory = join(scratch(), "log");
    const disk = createDisk(directory, "held");
    const { chain } = await releasing(disk, openOn(directory, disk, { durability: "each" }));
    const [first, second] = [chain.append({ type: "note" }), chain.append({ type: "note" })];
    const rejected = Promise.all([rejection(first), rejection(second)]);
    await turn();
    disk.release(failure);
    expect(await rejected).toMatchObject([
      { code: "WRITE_FAILED", cause: failure },
      { code: "WRITE_FAILED", cause: failure },
    ]);
    expect(await rejection(chain.append({ type: "note" }))).toMatchObject({ code: "CHAIN_FAILED", cause: failure });
    expect(await rejection(chain.flush())).toMatchObject({ code: "CHAIN_FAILED" });
    await chain.close();
  });

  it("that no append waits for is told by the next call, else by close", async () => {
    for (const call of ["append", "flush", "close"] as const) {
      const directory = join(scratch(), "log");
      const disk = createDisk(directory, "held");
      const { chain, tick } = await openOn(directory, disk, { durability: "batch" });
      await chain.append({ type: "note" });
      tick();
      await turn();
      disk.release(failure);
      await turn();
      const expected = { append: "CHAIN_FAILED", flush: "WRITE_FAILED", close: "WRITE_FAILED" }[call];
      const error = await rejection(call === "append" ? chain.append({ type: "note" }) : chain[call]());
      expect(error).toMatchObject({ code: expected, cause: failure });
      if (call !== "close") await chain.close();
    }
  });
});
