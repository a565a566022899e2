import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { systemScheduler } from "@berth/jsonrpc-framing";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { slowSource } from "./compiling.js";
import {
  expectNothingLeft,
  failure,
  makeWheel,
  makeWorld,
  preferUv,
  python,
  says,
  startAcquirer,
  timeWith,
  type World,
} from "./world.js";

const installer = preferUv();
const venvTest = partTest("python3", "python3-venv");

/** A world that asks for a module whose compiling takes some seconds. */
function slowWorld(): World & { readonly asked: { interpreter: string; requirements: string } } {
  const world = makeWorld(installer);
  makeWheel(world.wheels, "slow", "1.0", { "slow/module.py": slowSource(3) });
  const requirements = world.write("slow.txt", "slow\napple\n");
  return { ...world, asked: { interpreter: python, requirements } };
}

/** The processes that have the path of the store among their arguments, the compiler and its workers. */
function compilersOf(world: World): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const words = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0") : [];
      return words.includes("-c") && words.some((word) => word.startsWith(`{"environment":"${world.storePath}/tmp/`));
    } catch {
      return false; // gone
    }
  });
}

async function untilGone(world: World): Promise<void> {
  const signal = AbortSignal.timeout(30_000);
  // No event tells of processes of others.
  while (compilersOf(world).length > 0) await pause(20, undefined, { signal });
}

describe("a build that is ended while it compiles", () => {
  venvTest(
    "with its host, by SIGKILL, leaves no process, and nothing that is taken for an environment",
    async () => {
      const world = slowWorld();
      const host = startAcquirer({ options: world.options, requests: [world.asked], tells: true });
      const seen = await new Promise<number>((resolve) => {
        host.child.stdout?.on("data", (chunk) => {
          if (String(chunk).includes("compiling 3 modules")) resolve(compilersOf(world).length);
        });
        void host.ended.then(() => resolve(0));
      });
      host.child.kill("SIGKILL");
      expect(seen, "the control: it was compiling").toBeGreaterThan(0);
      await untilGone(world);
      expect(readdirSync(join(world.storePath, "environments"))).toEqual([]);
      const store = await world.open();
      const held = await store.acquire(world.asked);
      expect(says(held.python, ["-c", "import apple; print(apple.told)"])).toBe("apple 1.0");
      expect(readdirSync(join(world.storePath, "tmp"))).toEqual([]);
    },
    120_000,
  );

  venvTest(
    "since nobody waits for it any more rejects with the reason of the signal",
    async () => {
      const world = slowWorld();
      const store = await world.open();
      const ending = new AbortController();
      const reason = new Error("no longer wanted");
      const onProgress = (step: string): void => {
        if (step.startsWith("compiling")) ending.abort(reason);
      };
      await expect(store.acquire(world.asked, { signal: ending.signal, onProgress })).rejects.toBe(reason);
      expect(compilersOf(world)).toEqual([]);
      await expectNothingLeft(world);
    },
    120_000,
  );

  venvTest(
    "by the time of the build fails with that",
    async () => {
      const world = slowWorld();
      const scheduler = timeWith(600_000);
      const store = await world.open({ scheduler });
      const onProgress = (step: string): void => {
        if (step.startsWith("compiling")) scheduler.pass();
      };
      const error = await failure(store.acquire(world.asked, { onProgress }));
      expect(error).toMatchObject({ code: "VENV_BUILD_FAILED", details: { timeoutMs: 600_000 } });
      expect(compilersOf(world)).toEqual([]);
      await expectNothingLeft(world);
    },
    120_000,
  );

  venvTest(
    "by the time of the compiler goes on without it, and says so",
    async () => {
      const world = slowWorld();
      makeWheel(world.wheels, "slower", "1.0", { "slower/module.py": slowSource(40) });
      let passedMs = 0;
      const store = await world.open({
        scheduler: { ...systemScheduler, now: () => systemScheduler.now() + passedMs },
      });
      const steps: string[] = [];
      const onProgress = (step: string): void => {
        steps.push(step);
        // Of 600 s so much is left.
        if (step.startsWith("installing")) passedMs = 600_000 - 4_000;
      };
      const requirements = world.write("slower.txt", "slower\nslow\n");
      const held = await store.acquire({ interpreter: python, requirements }, { onProgress });
      expect(steps).toContainEqual(expect.stringMatching(/^WARNING: \d of \d modules were compiled: it took too long/));
      expect(says(held.python, ["-B", "-c", "import slow; print(slow.told)"])).toBe("slow 1.0");
      expect(existsSync(join(held.sitePackages, "slower", "__pycache__", "module.cpython-311.pyc"))).toBe(false);
    },
    120_000,
  );
});
