import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { partTest } from "../../../../fixtures/parts.js";
import { createLeases, type Lease, type LeaseRecord, type Leases, type ManagedProvider } from "../../src/index.js";
import { openSqliteLeaseStore } from "../../src/sqlite.js";
import { bubblewrap, openProvider, text } from "./provider-kinds.js";

const test = partTest("bubblewrap", "python3");
const limits = { memoryBytes: 64 * 2 ** 20, processes: 16 };

/** Control groups of these workers, in every hierarchy: other hosts of this machine have theirs. */
function controlGroupsOf(workers: ReadonlySet<string>, folder = "/sys/fs/cgroup", depth = 0): readonly string[] {
  if (depth > 4) return [];
  return subfolders(folder).flatMap((name) => {
    const path = join(folder, name);
    return workers.has(name) ? [path] : controlGroupsOf(workers, path, depth + 1);
  });
}

function subfolders(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return []; // somebody else's group, which was removed meanwhile
  }
}

function childrenOfOurs(): readonly string[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, "latin1").split(" ").filter(Boolean);
}

interface OpenedLeases extends AsyncDisposable {
  readonly leases: Leases;
  readonly provider: ManagedProvider;
  readonly folder: string;
  rows(): Promise<readonly LeaseRecord[]>;
}

/** Leases of real sandboxes, written down in SQLite. */
async function openLeases(): Promise<OpenedLeases> {
  const { provider, folder, ...opened } = await openProvider(bubblewrap);
  const store = await openSqliteLeaseStore({ path: join(folder, "store", "leases.db") });
  const leases = createLeases({
    store,
    providers: [provider],
    profiles: { python: { provider: provider.name, template: "/usr/bin/python3", policy: { limits } } },
    // What a machine is busy with beside the tests says nothing of the leases.
    limits: { maxTotal: 400, maxPerOwner: 200, createMs: 240_000, destroyMs: 240_000 },
  });
  return {
    leases,
    provider,
    folder,
    rows: () => store.list(),
    async [Symbol.asyncDispose]() {
      await leases.close();
      await store.close();
      await opened[Symbol.asyncDispose]();
    },
  };
}

const acquire = ({ leases }: OpenedLeases): Promise<Lease> => leases.acquire({ owner: "ann", profile: "python" });

async function expectNothingLeft({ provider, folder, rows }: OpenedLeases, count: number): Promise<void> {
  const written = await rows();
  expect(written).toHaveLength(count);
  expect(written.filter(({ state, endReason }) => state !== "released" || endReason !== "released")).toEqual([]);
  expect(await provider.listWorkers()).toEqual([]);
  expect(readdirSync(folder).sort()).toEqual(["guest", "store"]);
  expect(controlGroupsOf(new Set(written.map(({ worker }) => worker)))).toEqual([]);
}

describe("many leases", () => {
  test("200 live at once, run a command each, and go away", async () => {
    await using opened = await openLeases();
    const count = 200;
    const leases = await Promise.all(Array.from({ length: count }, () => acquire(opened)));
    const results = await Promise.all(leases.map((lease, at) => lease.run(["echo", String(at)])));
    expect(results.map(({ stdout }) => text(stdout).trim())).toEqual(results.map((_, at) => String(at)));
    const used = leases.map((lease) => lease.usage().memoryBytes ?? 0).sort((one, other) => one - other);
    console.log(`leases at once: ${count} of 200; memory of an idle one, median: ${used[count / 2]} bytes`);
    const workers = (await opened.rows()).map(({ worker }) => worker);
    expect([...(await opened.provider.listWorkers())].sort()).toEqual([...workers].sort());
    // The control: what lives is found.
    expect(controlGroupsOf(new Set(workers)).length).toBeGreaterThanOrEqual(count);
    await Promise.all(leases.map((lease) => lease.release()));
    await expectNothingLeft(opened, count);
  }, 300_000);

  test("come and go without leaving a process, a mount, a control group, a file or a descriptor", async () => {
    const cycles = scaledCount("leases that came and went", 10_000);
    await using opened = await openLeases();
    const cycle = async (): Promise<void> => {
      const lease = await acquire(opened);
      expect((await lease.run(["true"])).exitCode).toBe(0);
      await lease.release();
    };
    await cycle();
    const mounts = readFileSync("/proc/self/mountinfo", "latin1");
    const children = childrenOfOurs();
    const descriptors = readdirSync("/proc/self/fd").length;
    for (let done = 0; done < cycles; done += 4) await Promise.all([cycle(), cycle(), cycle(), cycle()]);
    await expectNothingLeft(opened, cycles + 1);
    expect(readFileSync("/proc/self/mountinfo", "latin1")).toBe(mounts);
    expect(childrenOfOurs()).toEqual(children);
    expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(descriptors + 2);
  }, 3_600_000);
});
