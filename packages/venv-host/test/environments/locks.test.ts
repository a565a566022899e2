import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemScheduler } from "@berth/jsonrpc-framing";
import { describe, expect, it, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
// Inner files: who holds a lock is told apart by records that no store of this machine would write.
import { isHeld, lookAtLock, tryLock } from "../../src/environments/locks/build-lock.js";
import { lifeOf, type ProcessName, thisProcess, type Viewer } from "../../src/environments/locks/process-name.js";
import { isVenvHostError } from "../../src/index.js";
import { makeWorld, preferUv, python, scratch } from "./world.js";

const installer = preferUv();
const self = thisProcess();
const viewer: Viewer = { self, isLocal: true };
let names = 0;
const random = (): string => {
  names += 1;
  return `r${names}`;
};

async function endedProcess(): Promise<number> {
  const child: ChildProcess = spawn("/bin/true");
  await once(child, "exit", { signal: AbortSignal.timeout(10_000) });
  return child.pid ?? 0;
}

/** The process of a parent that never asks for its end. */
async function endedUnnoticed(): Promise<number> {
  const parent = spawn("/bin/sh", ["-c", "sleep 0 & echo $!; exec sleep 600"], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [line] = await once(parent.stdout, "data", { signal: AbortSignal.timeout(10_000) });
  const pid = Number(String(line));
  // No event tells of processes of others.
  while (!/^\d+ \(.*\) Z/.test(statOf(pid))) await new Promise((resolve) => setImmediate(resolve));
  return pid;
}

const statOf = (pid: number): string => readFileSync(`/proc/${pid}/stat`, "utf8");
const startOf = (pid: number): string =>
  statOf(pid)
    .replace(/^.*\) /, "")
    .split(" ")[19] ?? "";

describe("a process that is named", () => {
  it.each<{
    name: string;
    of: (own: ProcessName) => Promise<ProcessName> | ProcessName;
    life: string;
    isLocal?: boolean;
  }>([
    { name: "lives, when it is this one", of: (own) => own, life: "alive" },
    { name: "is dead when it ended", of: async (own) => ({ ...own, pid: await endedProcess() }), life: "dead" },
    {
      name: "is dead when it ended and nobody took note, so that its number is still there",
      of: async (own) => {
        const pid = await endedUnnoticed();
        return { ...own, pid, startTime: startOf(pid) };
      },
      life: "dead",
    },
    { name: "is dead when its number went to another", of: (own) => ({ ...own, startTime: "1" }), life: "dead" },
    { name: "is dead after another boot", of: (own) => ({ ...own, bootId: "before" }), life: "dead" },
    {
      name: "is not known after another boot of a shared disk",
      of: (own) => ({ ...own, bootId: "other" }),
      life: "unknown",
      isLocal: false,
    },
    { name: "is not known in another container", of: (own) => ({ ...own, pidNamespace: "pid:[1]" }), life: "unknown" },
    { name: "lives where its start is not known", of: (own) => ({ ...own, startTime: null }), life: "alive" },
  ])("$name", async ({ of, life, isLocal = true }) => {
    expect(lifeOf(await of(self), { self, isLocal })).toBe(life);
  });
});

describe("a lock", () => {
  const withRecord = (record: string): string => {
    const folder = join(scratch(), "lock");
    mkdirSync(folder);
    writeFileSync(join(folder, "lock-1"), record);
    return folder;
  };

  it("of a living holder is never taken, however old it is", async () => {
    const folder = withRecord(`${JSON.stringify({ released: 0, ...self })}\n`);
    utimesSync(join(folder, "lock-1"), 1, 1);
    expect(await tryLock(folder, viewer, random)).toMatchObject({ name: self, isUnknown: false });
    expect(readdirSync(folder)).toEqual(["lock-1"]);
  });

  it("of a dead holder is taken, by one of many", async () => {
    const folder = withRecord(`${JSON.stringify({ released: 0, ...self, pid: await endedProcess() })}\n`);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => tryLock(folder, viewer, random)));
    expect(outcomes.filter(isHeld)).toHaveLength(1);
  });

  it.each(["", "no json", "{}", '{"pid":0}', '{"pid":1e99,"host":"x"}', "[".repeat(2_000)])(
    "that says %j is nobody's to take",
    async (text) => {
      const folder = withRecord(text);
      expect(await tryLock(folder, viewer, random)).toMatchObject({ name: undefined, isUnknown: true });
      expect(readFileSync(join(folder, "lock-1"), "utf8")).toBe(text);
    },
  );

  it("that was let go is taken at once, and its folder stays small", async () => {
    const folder = join(scratch(), "lock");
    for (let turn = 0; turn < 40; turn += 1) {
      const lock = await tryLock(folder, viewer, random);
      if (!isHeld(lock)) throw new Error("not free");
      expect(await lookAtLock(folder, viewer)).toMatchObject({ name: self });
      await lock.release();
      await lock.release();
      expect(await lookAtLock(folder, viewer)).toBeUndefined();
    }
    expect(readdirSync(folder).length).toBeLessThan(20);
  });
});

describe("a store whose lock is held for ever", () => {
  partTest("python3")("is a clear error for who waits, which says what to do", async () => {
    const world = makeWorld(installer);
    // A thousand times as fast: the patience is a build's time and a minute.
    const scheduler = {
      now: () => systemScheduler.now() * 1_000,
      after: (delayMs: number, act: () => void) => systemScheduler.after(delayMs / 1_000, act),
    };
    const store = await world.open({ scheduler, limits: { buildTimeoutMs: 1_000 } });
    const request = { interpreter: python, requirements: world.requirements };
    const { digest } = await store.keyOf(request);
    const folder = join(world.storePath, "locks", digest);
    mkdirSync(folder);
    writeFileSync(
      join(folder, "lock-7"),
      JSON.stringify({ released: 0, ...self, pidNamespace: "pid:[1]", host: "far\u001baway" }),
    );
    const steps: string[] = [];
    const error: unknown = await store
      .acquire(request, { onProgress: (step) => steps.push(step) })
      .catch((caught: unknown) => caught);
    if (!isVenvHostError(error)) throw error;
    expect(error).toMatchObject({
      code: "STORE_UNUSABLE",
      details: { cure: expect.stringContaining("lock-7"), timeoutMs: 61_000 },
    });
    const told = `waiting for process ${self.pid} on far?away, which cannot be looked for from here, which builds or checks it`;
    expect(steps[0]).toBe(told);
    for (const again of steps.slice(1)) expect(again.replace(/ \(\d\d s\)$/u, "")).toBe(told);
    onTestFinished(() => store.close());
  });

  partTest("python3")("is waited for no longer than the caller's signal says", async () => {
    const world = makeWorld(installer);
    const store = await world.open();
    const request = { interpreter: python, requirements: world.requirements };
    const { digest } = await store.keyOf(request);
    const folder = join(world.storePath, "locks", digest);
    mkdirSync(folder);
    writeFileSync(join(folder, "lock-1"), JSON.stringify({ released: 0, ...self }));
    const ending = new AbortController();
    const reason = new Error("enough");
    const waiting = store.acquire(request, { signal: ending.signal, onProgress: () => ending.abort(reason) });
    await expect(waiting).rejects.toBe(reason);
    expect(readdirSync(join(world.storePath, "uses"))).toEqual([]);
  });
});
