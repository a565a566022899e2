import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type EnforcementReport, probe } from "@berth/process-confinement";
import { describe, expect, onTestFinished } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import { partTest } from "../../../fixtures/parts.js";
import { createRandom } from "../src/contract/random.js";
import type { LeaseRecord } from "../src/index.js";
import { readSqliteLeases } from "../src/sqlite.js";

const program = fileURLToPath(new URL("./programs/busy-host.mjs", import.meta.url));
const sideBySide = 4;

/** Hosts that come one after the other in one folder. */
interface Chain {
  readonly folder: string;
  readonly report: EnforcementReport;
}

/** Of these workers, those whose files a process has mounted, and those that have a control group. */
async function living(workers: readonly string[]): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/mountinfo`, "latin1").catch(() => "")));
  const mounts = texts.join("");
  const groups = new Set(await groupsBelow("/sys/fs/cgroup", 4));
  return workers.filter((worker) => mounts.includes(`/${worker}/`) || groups.has(worker));
}

async function groupsBelow(folder: string, depth: number): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []); // other tests remove theirs
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  if (depth === 0) return names;
  const below = await Promise.all(names.map((name) => groupsBelow(join(folder, name), depth - 1)));
  return [...names, ...below.flat()];
}

async function rowsOf({ folder }: Chain): Promise<readonly LeaseRecord[]> {
  return (await readSqliteLeases(join(folder, "leases.db")))?.leases ?? [];
}

const workersOf = (rows: readonly LeaseRecord[]): readonly string[] => rows.map(({ worker }) => worker);

interface Host {
  /** What it says when it has recovered; undefined when it ends before. */
  readonly recovery: Promise<string | undefined>;
  readonly closed: Promise<unknown>;
  kill(): Promise<unknown>;
}

function startHost(chain: Chain, options: object): Host {
  const argument = JSON.stringify({ ...chain, ...options });
  const child: ChildProcess = spawn(process.execPath, [program, argument], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const closed = once(child, "close", { signal: AbortSignal.timeout(60_000) });
  if (child.stdout === null) throw new Error("no stdout");
  const lines = createInterface({ input: child.stdout });
  const recovery = new Promise<string | undefined>((resolve) => {
    lines.once("line", resolve).once("close", () => resolve(undefined));
  });
  return {
    recovery,
    closed,
    kill: () => {
      child.kill("SIGKILL");
      return closed;
    },
  };
}

/** Nothing of the leases of hosts before this one. */
async function expectEnded(chain: Chain, recovery: string, earlier: readonly string[]): Promise<void> {
  expect(recovery).toContain('"unconfirmed":0');
  const old = (await rowsOf(chain)).filter(({ worker }) => earlier.includes(worker));
  for (const { state } of old) expect(state).toMatch(/^(released|lost)$/);
  expect(await living(earlier), "no sandbox or control group of an earlier host").toEqual([]);
  const folders = await readdir(join(chain.folder, "w"));
  expect(
    folders.filter((name) => earlier.includes(name)),
    "no file of an earlier host",
  ).toEqual([]);
}

/** One more host, killed a random time after its start or after its recovery. Gives how many sandboxes it had then. */
async function killNext(chain: Chain, from: "start" | "recovery", afterMs: number): Promise<number> {
  const earlier = workersOf(await rowsOf(chain));
  const host = startHost(chain, {});
  const recovered = host.recovery.then(async (said) => {
    if (said !== undefined) await expectEnded(chain, said, earlier);
  });
  if (from === "recovery") await recovered.catch((error: unknown) => host.kill().then(() => Promise.reject(error)));
  await pause(afterMs); // a random moment is what is asked for, and no event tells of one
  const had = from === "recovery" ? (await living(workersOf(await rowsOf(chain)))).length : 0;
  await host.kill();
  await recovered;
  const terminal = (await rowsOf(chain)).filter(({ endedAt }) => endedAt !== undefined);
  expect(await living(workersOf(terminal)), "no lease has ended whose sandbox lives").toEqual([]);
  return had;
}

/** The last host of a folder ends as it should, and leaves an empty one. */
async function endChain(chain: Chain): Promise<void> {
  const earlier = workersOf(await rowsOf(chain));
  const host = startHost(chain, { once: true });
  await expectEnded(chain, String(await host.recovery), earlier);
  expect(await host.closed).toEqual([0, null]);
  expect((await readdir(join(chain.folder, "w"))).filter((name) => name !== "guest")).toEqual([]);
}

describe("a host of real sandboxes that is killed at a random moment", () => {
  partTest("bubblewrap", "python3")(
    "leaves nothing that the next host does not end, again and again",
    async () => {
      let left = scaledCount("hosts of real sandboxes killed at random moments", 1_000);
      const report = await probe({});
      const random = createRandom(Date.now());
      let had = 0;
      const killAll = async (): Promise<void> => {
        const chain = { folder: await mkdtemp("/tmp/berth-random-"), report };
        onTestFinished(() => rm(chain.folder, { recursive: true, force: true }));
        while (left > 0) {
          left -= 1;
          const from = random.pick(["start", "recovery", "recovery"]);
          had += await killNext(chain, from, random.below(600));
        }
        await endChain(chain);
      };
      // When one fails the others come to their end too, so that no host outlives the test.
      const stopAll = (error: unknown): never => {
        left = 0;
        throw error;
      };
      const chains = await Promise.allSettled(Array.from({ length: sideBySide }, () => killAll().catch(stopAll)));
      for (const chain of chains) if (chain.status === "rejected") throw chain.reason;
      expect(had, "the control: sandboxes that lived were seen").toBeGreaterThan(0);
    },
    3_600_000,
  );
});
