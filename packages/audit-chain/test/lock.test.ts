import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { partTest } from "../../../fixtures/parts.js";
import { takeFlock } from "../src/flock.js";
import { verifyLog } from "../src/index.js";
import { takeLock } from "../src/lock.js";
import { readRecord, recordText } from "../src/lock-record.js";
import { lifeOf, ownIdentity } from "../src/owner.js";
import { nodeCommand, start, startNode } from "./processes.js";
import { clearScratch, logFolder, open, rejection, scaledTest, scratch, writeLog } from "./scratch.js";

const since = "2026-01-02T03:04:05.000Z";
const noFlock = (): Promise<undefined> => Promise.resolve(undefined);
let drafts = 0;
const lockParts = (changes: Partial<Parameters<typeof takeLock>[1]> = {}) => ({
  self: ownIdentity(since),
  takeFlock,
  randomName: () => `test-${drafts++}`,
  ...changes,
});

/** Puts a lock there whose owner is us but for the changes. */
function plantLock(directory: string, number: number, changes: object, flock = false): void {
  writeFileSync(join(directory, `lock-${number}`), recordText({ ...ownIdentity(since), ...changes }, flock));
}

describe("a second writer", () => {
  it("of the same process is refused with the owner", async () => {
    const directory = logFolder();
    await using _first = await open(directory);
    const error = await rejection(open(directory));
    expect(error).toMatchObject({ code: "LOCKED", owner: { pid: process.pid } });
    expect(error).toHaveProperty("message", expect.stringContaining(`process ${process.pid}`));
  });

  it("of another process is refused with the owner's pid, start time, boot and namespace", async () => {
    const directory = logFolder();
    const first = startNode("writer.mjs", [directory, "batch", "0"]);
    await first.line((line) => line.startsWith("ack"));
    expect(await rejection(open(directory))).toMatchObject({
      code: "LOCKED",
      owner: {
        pid: first.child.pid,
        startTime: expect.stringMatching(/^\d+$/),
        bootId: readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim(),
        pidNamespace: readlinkSync("/proc/self/ns/pid"),
      },
    });
  });

  it("may follow once the first has closed", async () => {
    const directory = await writeLog([{ type: "a" }]);
    await using second = await open(directory);
    expect(second.head.sequence).toBe(1);
  });

  it("may write another log beside it", async () => {
    const folder = scratch();
    const chains = await Promise.all(Array.from({ length: 10 }, (_, index) => open(join(folder, `log-${index}`))));
    await Promise.all(chains.map((chain) => chain.append({ type: "a" })));
    await Promise.all(chains.map((chain) => chain.close()));
  });
});

describe("a dead owner", () => {
  it("that was killed is followed", async () => {
    const directory = logFolder();
    const first = startNode("writer.mjs", [directory, "batch", "0"]);
    await first.line((line) => line.startsWith("ack"));
    first.child.kill("SIGKILL");
    await first.ended;
    await using second = await open(directory);
    expect(second.head.sequence).toBeGreaterThan(0);
  });

  it("that is a zombie counts as dead", async () => {
    const directory = logFolder();
    // A shell that becomes another program without ever waiting for its child: the child stays a zombie.
    const [node = "", ...args] = nodeCommand("writer.mjs", [directory, "batch", "0"]);
    const quoted = [node, ...args].map((part) => `'${part}'`).join(" ");
    const parent = start("/bin/sh", ["-c", `${quoted} & exec sleep 600`]);
    const pid = Number((await parent.line((line) => line.startsWith("open"))).split(" ")[1]);
    process.kill(pid, "SIGKILL");
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8")).toMatch(/\) Z /);
    process.kill(pid, 0);
    await using second = await open(directory);
    expect(second.logId).toBe("log");
    parent.child.kill("SIGKILL");
    await parent.ended;
  });

  it("whose number went to a later process counts as dead", async () => {
    const directory = scratch();
    plantLock(directory, 1, { startTime: "1" });
    const lock = await takeLock(directory, lockParts());
    lock.release();
  });

  it("of an earlier boot counts as dead on a local file system", async () => {
    const directory = scratch();
    plantLock(directory, 1, { bootId: "00000000-0000-0000-0000-000000000000" });
    const lock = await takeLock(directory, lockParts());
    lock.release();
  });

  it("of an earlier boot, or of another machine, stays unknown where several machines may have the folder", async () => {
    // /proc is on none of the file systems that are known to be one machine's.
    const owner = { ...ownIdentity(since), bootId: "00000000-0000-0000-0000-000000000000" };
    expect(await lifeOf(owner, ownIdentity(since), "/proc/self")).toBe("unknown");
  });
});

describe("an owner that cannot be looked for", () => {
  const elsewhere = { pidNamespace: "pid:[1]", pid: 1 };

  it("is never taken for dead", async () => {
    const directory = scratch();
    plantLock(directory, 1, elsewhere);
    const error = await rejection(takeLock(directory, lockParts()));
    expect(error).toMatchObject({ code: "LOCKED", owner: elsewhere });
    expect(error).toHaveProperty("message", expect.stringContaining("cannot be looked for"));
  });

  partTest("util-linux")("is proven dead by the file lock that went with it", async () => {
    const directory = scratch();
    plantLock(directory, 1, elsewhere, true);
    expect(await rejection(takeLock(directory, lockParts({ takeFlock: noFlock })))).toMatchObject({ code: "LOCKED" });
    const lock = await takeLock(directory, lockParts());
    lock.release();
  });

  partTest("util-linux")("is proven alive by the file lock that it holds", async () => {
    const directory = scratch();
    plantLock(directory, 1, elsewhere, true);
    const descriptor = openSync(join(directory, "lock-1"), "r");
    expect(await takeFlock(descriptor)).toBe(true);
    expect(await rejection(takeLock(directory, lockParts()))).toMatchObject({ code: "LOCKED" });
    closeSync(descriptor);
    const lock = await takeLock(directory, lockParts());
    lock.release();
  });

  partTest("util-linux")(
    "of another boot is not proven dead by a file lock, which may not show across machines",
    async () => {
      const directory = scratch();
      plantLock(directory, 1, { ...elsewhere, bootId: null }, true);
      expect(await rejection(takeLock(directory, lockParts()))).toMatchObject({ code: "LOCKED" });
    },
  );

  it("because the lock file says nothing is not taken for dead", async () => {
    for (const text of [
      "",
      "{}",
      "null",
      '{"pid":1}',
      "\0\0\0",
      recordText({ ...ownIdentity(since), pid: -1 }, false),
    ]) {
      const directory = scratch();
      writeFileSync(join(directory, "lock-1"), text);
      expect(await rejection(takeLock(directory, lockParts()))).toMatchObject({ code: "LOCKED", owner: undefined });
    }
  });
});

describe("a lock file", () => {
  it("is marked as released in place, which needs no room on the disk", async () => {
    const directory = scratch();
    const lock = await takeLock(directory, lockParts());
    const path = join(directory, "lock-1");
    const held = readFileSync(path, "utf8");
    lock.release();
    lock.release();
    const released = readFileSync(path, "utf8");
    expect(released).toHaveLength(held.length);
    expect([readRecord(held)?.released, readRecord(released)?.released]).toEqual([false, true]);
  });

  it("is kept under its number, and old ones are tidied away", async () => {
    const directory = scratch();
    writeFileSync(join(directory, "lock-new-stale"), "");
    for (let time = 0; time < 40; time += 1) (await takeLock(directory, lockParts({ takeFlock: noFlock }))).release();
    const names = readdirSync(directory);
    expect(names).toContain("lock-40");
    expect(names).toHaveLength(17);
  });

  it("of a number that was tidied away gives a late contender nothing", async () => {
    const directory = scratch();
    plantLock(directory, 5, { startTime: "1" });
    plantLock(directory, 9, {});
    expect(await rejection(takeLock(directory, lockParts()))).toMatchObject({ code: "LOCKED" });
    expect(readdirSync(directory).sort()).toEqual(["lock-5", "lock-9"]);
  });
});

describe("many contenders", () => {
  it("for the lock of a dead owner: exactly one in the same process gets it", scaledTest, async () => {
    const rounds = scaledCount("contended takeovers in one process", 1_000);
    for (let round = 0; round < rounds; round += 1) {
      const directory = scratch();
      plantLock(directory, 1, { startTime: "1" });
      const tries = Array.from({ length: 8 }, () => takeLock(directory, lockParts({ takeFlock: noFlock })));
      const settled = await Promise.allSettled(tries);
      const won = settled.filter((result) => result.status === "fulfilled");
      expect(won).toHaveLength(1);
      for (const { value } of won) value.release();
      clearScratch();
    }
  });

  it("as processes that append and are killed at random: the log never forks", scaledTest, async () => {
    const rounds = scaledCount("rounds of eight contending processes", 100);
    const directory = logFolder();
    for (let round = 0; round < rounds; round += 1) {
      const writers = Array.from({ length: 8 }, () => startNode("writer.mjs", [directory, "batch", "0"]));
      const first = await Promise.any(
        writers.map(async (writer) => {
          await writer.line((line) => line.startsWith("ack"));
          return writer;
        }),
      );
      const losers = writers.filter((writer) => writer !== first);
      await Promise.all(losers.map((writer) => writer.ended));
      for (const loser of losers) {
        expect(loser.lines).toEqual([expect.stringContaining('"code":"LOCKED"')]);
        expect(loser.lines[0]).toContain(`"pid":${first.child.pid}`);
      }
      first.child.kill("SIGKILL");
      await first.ended;
      expect((await verifyLog(directory)).problems).toEqual([]);
    }
  });

  it(
    "as processes of which the owner dies while others ask: every log entry is one owner's, in one chain",
    scaledTest,
    async () => {
      const rounds = scaledCount("rounds of owners killed under contention", 100);
      const directory = logFolder();
      for (let round = 0; round < rounds; round += 1) {
        const owner = startNode("writer.mjs", [directory, "batch", "0"]);
        await owner.line((line) => line.startsWith("ack"));
        const others = Array.from({ length: 6 }, () => startNode("writer.mjs", [directory, "batch", "3"]));
        owner.child.kill("SIGKILL");
        await Promise.all([owner, ...others].map((writer) => writer.ended));
        const report = await verifyLog(directory, { strict: true });
        expect(report.problems).toEqual([]);
        const acknowledged = others.flatMap(({ lines }) => lines.filter((line) => line.startsWith("ack")));
        expect(new Set(acknowledged).size).toBe(acknowledged.length);
      }
    },
  );
});

it("a lock that cannot be written is an error, and leaves nothing that would lock others out", async () => {
  const directory = logFolder();
  const command = nodeCommand("writer.mjs", [directory, "batch", "1"]).map((part) => `'${part}'`);
  const writer = start("/bin/sh", ["-c", `ulimit -f 0; exec ${command.join(" ")}`]);
  expect(await writer.ended).toMatchObject({ code: 1 });
  expect(writer.lines[0]).toMatch(/"code":"OPEN_FAILED".*"cause":"EFBIG"/);
  expect(readdirSync(directory)).toEqual([]);
});

it("a child of the writer does not inherit its lock", async () => {
  const directory = logFolder();
  const chain = await open(directory);
  const child = spawn("sleep", ["600"], { stdio: "ignore" });
  await once(child, "spawn");
  await chain.close();
  const descriptor = openSync(join(directory, "lock-1"), "r");
  expect(await takeFlock(descriptor)).not.toBe(false);
  closeSync(descriptor);
  child.kill("SIGKILL");
  await once(child, "exit");
});
