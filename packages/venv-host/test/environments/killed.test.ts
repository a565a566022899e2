import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { makeWorld, preferUv, python, says, startAcquirer, type World } from "./world.js";

const installer = preferUv();
const request = (world: World): object => ({ interpreter: python, requirements: world.requirements });

/** The calls of one build that change the store, as they come when nobody ends it. */
async function countCalls(): Promise<readonly string[]> {
  const world = makeWorld(installer);
  const log = join(world.folder, "calls");
  const env = { KILL_BELOW: world.storePath, KILL_LOG: log };
  const { ended } = startAcquirer({ options: world.options, requests: [request(world)] }, env, true);
  expect(await ended).toMatchObject({ code: 0 });
  return readFileSync(log, "utf8").trim().split("\n");
}

async function killedAt(at: number, side: "before" | "after"): Promise<World> {
  const world = makeWorld(installer);
  const env = { KILL_BELOW: world.storePath, KILL_AT: String(at), KILL_SIDE: side };
  const { ended } = startAcquirer({ options: world.options, requests: [request(world)] }, env, true);
  expect(await ended, `killed ${side} call ${at}`).toMatchObject({ code: null, signal: "SIGKILL" });
  return world;
}

async function expectUsable(world: World, what: string): Promise<void> {
  const store = await world.open();
  const held = await store.acquire(request(world), { signal: AbortSignal.timeout(100_000) });
  expect(says(held.python, ["-c", "import apple; print(apple.told)"]), what).toBe("apple 1.0");
  expect(says(join(held.path, "bin", "apple-says")), what).toBe("apple 1.0");
  expect(["built", "cached", "rebuilt"], what).toContain(held.origin);
  await held.close();
  await store.collect({ maxBytes: 2 ** 40 });
  expect(readdirSync(join(world.storePath, "tmp")), `${what}: nothing is left of the killed build`).toEqual([]);
  expect(
    (await store.list()).map(({ state, heldBy }) => ({ state, heldBy })),
    what,
  ).toEqual([{ state: "ready", heldBy: [] }]);
  await store.close();
}

describe("a host that is killed while it builds", () => {
  partTest("python3", "python3-venv")(
    "leaves, at every call that changes the store, what the next one makes whole",
    async () => {
      const calls = await countCalls();
      expect(calls.length, "the control: calls were counted").toBeGreaterThan(20);
      expect(calls.some((call) => call.includes("rename") && call.includes("venv"))).toBe(true);
      // All calls are killed at under BERTH_SOAK; else each eighth, others where the sides change.
      const step = process.env["BERTH_SOAK"] === "1" ? 1 : 8;
      for (const [offset, side] of [
        [1, "before"],
        [3, "after"],
      ] as const) {
        for (let at = offset; at <= calls.length; at += step) {
          const what = `killed ${side} ${calls[at - 1]}`;
          await expectUsable(await killedAt(at, side), what);
        }
      }
    },
    1_200_000,
  );

  describe.each(installer === "uv" ? (["uv", "pip"] as const) : (["pip"] as const))("and an install by %s", (each) => {
    partTest("python3", "python3-venv")(
      "leaves no process of its install behind",
      async () => {
        const world = makeWorld(each);
        // A build back-end that never ends: it is what the killed host leaves.
        const requirements = world.write("slow.txt", "./slow-1.0.tar.gz\n");
        const { execFileSync } = await import("node:child_process");
        const marker = `berth-slow-${process.pid}-${Date.now()}`;
        const source = join(world.folder, "slow-1.0");
        execFileSync("mkdir", ["-p", source]);
        world.write(
          "slow-1.0/pyproject.toml",
          '[build-system]\nrequires = []\nbuild-backend = "slow"\nbackend-path = ["."]\n',
        );
        world.write(
          "slow-1.0/slow.py",
          `import time, sys, subprocess\nopen(${JSON.stringify(join(world.folder, "runs"))}, "w").close()\nsubprocess.run([sys.executable, "-c", "import time; time.sleep(600)", "${marker}"])\n`,
        );
        execFileSync("tar", ["-czf", join(world.folder, "slow-1.0.tar.gz"), "-C", world.folder, "slow-1.0"]);
        const job = { options: world.options, requests: [{ interpreter: python, requirements }] };
        const host = startAcquirer(job);
        await until(() => existsSync(join(world.folder, "runs")) && processesWith(marker).length > 0);
        host.child.kill("SIGKILL");
        await host.ended;
        await until(() => processesWith(marker).length === 0);
      },
      240_000,
    );
  });
});

function processesWith(marker: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0").includes(marker);
    } catch {
      return false; // gone
    }
  });
}

async function until(isSo: () => boolean): Promise<void> {
  const { setTimeout: pause } = await import("node:timers/promises");
  const signal = AbortSignal.timeout(30_000);
  // No event tells of processes of others.
  while (!isSo()) await pause(20, undefined, { signal });
}
