import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, vi } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { partTest } from "../../../../fixtures/parts.js";
// An inner file: a use as another process of this host notes it.
import { thisProcess } from "../../src/environments/locks/process-name.js";
import { makeWheel, makeWorld, preferUv, python, says, startAcquirer } from "./world.js";

const installer = preferUv();

interface Told {
  readonly key: string;
  readonly python: string;
  readonly origin: string;
}

/** As proc(5) has it: `T` for one that is stopped. */
const stateOf = (pid = 0): string | undefined => / ([A-Z]) /.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1];

const told = (out: string): readonly Told[] =>
  out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("hosts that build at once in one store", () => {
  partTest("python3", "python3-venv")(
    "build each of their environments once, and all get all of them",
    async () => {
      const world = makeWorld(installer);
      const processes = Math.max(3, scaledCount("hosts that build at once", 24));
      const requests = ["fig", "kiwi", "plum"].map((name) => {
        makeWheel(world.wheels, name, "1.0");
        return { interpreter: python, requirements: world.write(`${name}.txt`, `${name}==1.0\n`) };
      });
      const hosts = Array.from({ length: processes }, () => startAcquirer({ options: world.options, requests }));
      const all: Told[] = [];
      for (const { ended } of hosts) {
        const { code, out } = await ended;
        expect(code, out).toBe(0);
        all.push(...told(out));
      }
      expect(all).toHaveLength(processes * requests.length);
      const built = all.filter(({ origin }) => origin === "built");
      expect(built.map(({ key }) => key).sort()).toEqual([...new Set(all.map(({ key }) => key))].sort());
      expect(built).toHaveLength(requests.length);
      for (const { python: path } of built) says(path, ["-c", "import sys"]);
      expect(readdirSync(join(world.storePath, "tmp"))).toEqual([]);
      expect(readdirSync(join(world.storePath, "uses"))).toEqual([]);
    },
    120_000,
  );

  partTest("python3", "python3-venv")(
    "one of them killed while it builds is followed by one that waited",
    async () => {
      const world = makeWorld(installer);
      const job = { options: world.options, requests: [{ interpreter: python, requirements: world.requirements }] };
      const inTheMiddle = { KILL_BELOW: world.storePath, KILL_AT: "30", KILL_SIDE: "before", KILL_SIGNAL: "SIGSTOP" };
      const killed = startAcquirer(job, inTheMiddle, true);
      await vi.waitFor(() => expect(stateOf(killed.child.pid)).toBe("T"), { timeout: 30_000, interval: 5 });
      const waiting = startAcquirer({ ...job, tells: true });
      expect(await waiting.spoke).toMatch(`waiting for process ${killed.child.pid}`);
      killed.child.kill("SIGKILL");
      const { code, out } = await waiting.ended;
      expect(code, out).toBe(0);
      expect(told(out).at(-1)).toMatchObject({ origin: "built" });
    },
    60_000,
  );

  partTest("python3", "python3-venv")("in one process share the work too", async () => {
    const world = makeWorld(installer);
    const [one, other] = [await world.open(), await world.open()];
    const request = { interpreter: python, requirements: world.requirements };
    const held = await Promise.all([one.acquire(request), other.acquire(request), one.acquire(request)]);
    expect(held.map(({ origin }) => origin).sort()).toEqual(["built", "cached", "cached"]);
  });
});

describe("an environment in use", () => {
  partTest("python3", "python3-venv")(
    "is never collected, whoever collects, and is once its host is gone",
    async () => {
      const world = makeWorld(installer);
      const job = {
        options: world.options,
        requests: [{ interpreter: python, requirements: world.requirements }],
        hold: true,
      };
      const host = startAcquirer(job);
      const [held] = told(await host.spoke);
      const store = await world.open();
      expect(await store.list()).toMatchObject([{ key: held?.key, state: "ready", heldBy: [host.child.pid] }]);
      expect(await store.collect({})).toMatchObject({ removed: [], kept: 1, failed: [] });
      expect(says(held?.python ?? "", ["-c", "import apple; print(apple.told)"])).toBe("apple 1.0");
      host.child.kill("SIGKILL");
      await host.ended;
      expect(await store.collect({ isTrial: true })).toMatchObject({ removed: [{ key: held?.key }] });
      expect(await store.collect({})).toMatchObject({ removed: [{ key: held?.key, why: "nobody uses it" }], kept: 0 });
      expect(readdirSync(join(world.storePath, "environments"))).toEqual([]);
    },
    60_000,
  );

  partTest("python3", "python3-venv")(
    "survives collectors that run all the time beside those that use it",
    async () => {
      const world = makeWorld(installer);
      const store = await world.open();
      const collector = await world.open();
      const request = { interpreter: python, requirements: world.requirements };
      let isDone = false;
      const collecting = (async () => {
        while (!isDone) await collector.collect({});
      })();
      try {
        for (let round = 0; round < 8; round += 1) {
          const held = await store.acquire(request);
          expect(says(held.python, ["-c", "import apple; print(apple.told)"])).toBe("apple 1.0");
          expect(says(join(held.path, "bin", "apple-says"))).toBe("apple 1.0");
          await held.close();
        }
      } finally {
        isDone = true;
        await collecting;
      }
    },
    60_000,
  );
});

describe("what is collected", () => {
  partTest("python3", "python3-venv")("is not what somebody began to use after it was chosen", async () => {
    const world = makeWorld(installer);
    let chosen = (): void => {};
    // The clock is looked at between the choice and the removal.
    const store = await world.open({
      now: () => {
        chosen();
        return Date.now();
      },
    });
    const held = await store.acquire({ interpreter: python, requirements: world.requirements });
    await held.close();
    chosen = () => writeFileSync(join(world.storePath, "uses", `${held.key}.late`), JSON.stringify(thisProcess()));
    expect(await store.collect({})).toMatchObject({
      removed: [],
      failed: [{ path: held.path, why: `process ${process.pid} began to use it` }],
    });
    expect(says(held.python, ["-c", "import apple; print(apple.told)"])).toBe("apple 1.0");
  });

  partTest("python3", "python3-venv")(
    "is what was used least recently, by age and by bytes, whatever the clock does",
    async () => {
      const world = makeWorld(installer);
      let nowMs = 1_000_000_000_000;
      const store = await world.open({ now: () => nowMs });
      const use = async (content: string): Promise<string> => {
        const held = await store.acquire({ interpreter: python, requirements: world.write("r.txt", content) });
        await held.close();
        return held.key;
      };
      const apple = await use("apple\n");
      nowMs += 10_000;
      const pear = await use("pear\n");
      const sizes = new Map((await store.list()).map(({ key, bytes }) => [key, bytes]));
      expect((await store.collect({ unusedMs: 20_000 })).removed).toEqual([]);
      expect((await store.collect({ unusedMs: 10_000, isTrial: true })).removed.map(({ key }) => key)).toEqual([apple]);
      const maxBytes = (sizes.get(apple) ?? 0) + (sizes.get(pear) ?? 0) - 1;
      expect((await store.collect({ maxBytes })).removed.map(({ key }) => key)).toEqual([apple]);
      // The clock jumps back: what was used in the future counts as used now, and grows old from there.
      nowMs -= 1_000_000_000;
      expect((await store.collect({ unusedMs: 1 })).removed).toEqual([]);
      nowMs += 5;
      expect((await store.collect({ unusedMs: 1 })).removed.map(({ key }) => key)).toEqual([pear]);
    },
  );
});
