import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { partTest } from "../../../../fixtures/parts.js";
import { bubblewrap, openProvider, text, workerName } from "./provider-kinds.js";

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

describe("many environments", () => {
  test("200 live at once, run a command each, and go away", async () => {
    await using opened = await openProvider(bubblewrap);
    const profile = bubblewrap.profile({ limits });
    const count = 200;
    const environments = await Promise.all(
      Array.from({ length: count }, () => opened.provider.create(workerName(), profile, { deadlineMs: 600_000 })),
    );
    const results = await Promise.all(environments.map(({ run }, at) => run(["echo", String(at)])));
    expect(results.map(({ stdout }) => text(stdout).trim())).toEqual(results.map((_, at) => String(at)));
    const used = environments.map(({ usage }) => usage().memoryBytes ?? 0).sort((one, other) => one - other);
    console.log(`memory of an idle environment, median of ${count}: ${used[count / 2]} bytes`);
    expect(await opened.provider.listWorkers()).toHaveLength(count);
    await opened.provider.close();
    expect(await opened.provider.listWorkers()).toEqual([]);
    expect(readdirSync(opened.folder)).toEqual(["guest"]);
  }, 300_000);

  test("come and go without leaving a process, a mount, a control group, a file or a descriptor", async () => {
    const cycles = scaledCount("environments made and closed", 10_000);
    await using opened = await openProvider(bubblewrap);
    const profile = bubblewrap.profile({ limits });
    const workers = new Set<string>();
    const cycle = async (): Promise<void> => {
      const worker = workerName();
      workers.add(worker);
      await using environment = await opened.provider.create(worker, profile, { deadlineMs: 600_000 });
      expect((await environment.run(["true"])).exitCode).toBe(0);
    };
    await cycle();
    const mounts = readFileSync("/proc/self/mountinfo", "latin1");
    const children = childrenOfOurs();
    const descriptors = readdirSync("/proc/self/fd").length;
    for (let done = 0; done < cycles; done += 4) await Promise.all([cycle(), cycle(), cycle(), cycle()]);
    expect(await opened.provider.listWorkers()).toEqual([]);
    expect(readdirSync(opened.folder)).toEqual(["guest"]);
    expect(readFileSync("/proc/self/mountinfo", "latin1")).toBe(mounts);
    expect(controlGroupsOf(workers)).toEqual([]);
    expect(childrenOfOurs()).toEqual(children);
    expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(descriptors + 2);
  }, 3_600_000);
});
