import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LimitsHost } from "../../src/limits/limits-host.js";
import { planLimits } from "../../src/limits/plan.js";
import { hostOf, mountLine } from "./hosts.js";

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "berth-limits-"));
});
afterEach(() => rmSync(top, { recursive: true }));

interface Group {
  readonly available?: string;
  readonly given?: string;
  readonly members?: string;
  /** Only the root of the machine's tree has no type. */
  readonly isRoot?: boolean;
}

/** A group of version 2 as a folder with the files that are looked at. */
function group(path: string, { available = "", given = "", members = "", isRoot = false }: Group): void {
  const folder = join(top, path);
  mkdirSync(folder, { recursive: true });
  const files = { "cgroup.controllers": available, "cgroup.subtree_control": given, "cgroup.procs": members };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), `${text}\n`);
  if (!isRoot) writeFileSync(join(folder, "cgroup.type"), "domain\n");
}

const all = "cpuset cpu io memory pids";
const unified = (own: string, uid = 0): LimitsHost =>
  hostOf({ uid, mountInfo: mountLine("cgroup2", top), ownGroups: `0::${own}\n` });
const none = (uid: number): LimitsHost => hostOf({ uid, mountInfo: "", ownGroups: "" });

describe("planLimits, on machines that this one is not", () => {
  it("makes groups beside its own in a delegated tree, since a group with processes can give nothing on", () => {
    group("", { available: all, given: all, isRoot: true });
    group("user.slice", { available: all, given: "memory pids" });
    group("user.slice/app.slice", { available: "memory pids", given: "memory pids" });
    group("user.slice/app.slice/shell.scope", { available: "memory pids", members: "123" });
    const plan = planLimits(
      { memoryBytes: 2 ** 26, processes: 4 },
      {},
      unified("/user.slice/app.slice/shell.scope", 1000),
    );
    expect(plan.groups).toEqual([
      {
        version: 2,
        parent: join(top, "user.slice/app.slice"),
        controllers: ["memory", "pids"],
        writes: [
          { file: "memory.max", value: "67108864", optional: false },
          { file: "memory.swap.max", value: "0", optional: true },
          { file: "pids.max", value: "6", optional: false },
        ],
      },
    ]);
    expect(plan.enforced).toEqual([
      { limit: "memoryBytes", value: 2 ** 26, by: "cgroup-v2" },
      { limit: "processes", value: 4, by: "cgroup-v2" },
    ]);
  });

  it("takes the group of its own where that is the root of the machine's tree", () => {
    group("", { available: all, members: "1\n2", isRoot: true });
    const plan = planLimits({ cpus: 0.5 }, {}, unified("/"));
    expect(plan.groups).toEqual([
      {
        version: 2,
        parent: top,
        controllers: ["cpu"],
        writes: [{ file: "cpu.max", value: "50000 100000", optional: false }],
      },
    ]);
  });

  it("takes the nearest group that can give on all that is wanted", () => {
    group("", { available: all, given: all, isRoot: true });
    group("a", { available: all, given: "memory" });
    group("a/b", { available: "memory", members: "7" });
    expect(planLimits({ memoryBytes: 2 ** 26 }, {}, unified("/a/b")).groups[0]?.parent).toBe(join(top, "a"));
    expect(planLimits({ memoryBytes: 2 ** 26, cpus: 1 }, {}, unified("/a/b")).groups[0]?.parent).toBe(join(top, "a"));
    writeFileSync(join(top, "a/cgroup.procs"), "8\n");
    expect(planLimits({ memoryBytes: 2 ** 26, cpus: 1 }, {}, unified("/a/b")).groups[0]?.parent).toBe(top);
  });

  it("makes no group that would hold nothing", () => {
    group("", { available: "hugetlb", isRoot: true });
    expect(planLimits({}, {}, unified("/")).groups).toEqual([]);
  });

  it.each([
    { limit: "memoryBytes", limits: { memoryBytes: 2 ** 26 }, says: /each process for itself/ },
    { limit: "processes", limits: { processes: 4 }, says: /does nothing for root/ },
    { limit: "cpus", limits: { cpus: 1 }, says: /nothing else divides/ },
  ])("refuses $limit for root without control groups, and says why and what to do", ({ limit, limits, says }) => {
    expect(() => planLimits(limits, {}, none(0))).toThrow(
      expect.objectContaining({
        code: "LIMIT_NOT_ENFORCEABLE",
        field: `limits.${limit}`,
        message: expect.stringMatching(says),
        cure: expect.stringContaining("/sys/fs/cgroup"),
      }),
    );
  });

  it("holds processes by an rlimit for an ordinary user, whom it binds, and still refuses memory", () => {
    const plan = planLimits({ processes: 4 }, { inside: 1 }, none(1000));
    expect(plan).toMatchObject({
      groups: [],
      inside: { processes: 5 },
      enforced: [{ limit: "processes", value: 4, by: "rlimit" }],
    });
    expect(() => planLimits({ memoryBytes: 2 ** 26 }, {}, none(1000))).toThrow(/no control groups/);
  });

  it("refuses what the kernel has no controller for, by its name", () => {
    group("", { available: "cpu pids", isRoot: true });
    expect(() => planLimits({ memoryBytes: 2 ** 26 }, {}, unified("/"))).toThrow(/no "memory" controller/);
  });

  it("refuses where the only group that may be written has processes, and tells how to move them", () => {
    group("", { available: all, members: "1" });
    expect(() => planLimits({ memoryBytes: 2 ** 26 }, {}, unified("/"))).toThrow(
      expect.objectContaining({
        message: expect.stringContaining("has processes in it"),
        cure: expect.stringContaining(`mkdir ${top}/host`),
      }),
    );
    group("host", { available: all, members: "1" });
    group("", { available: all });
    expect(planLimits({ memoryBytes: 2 ** 26 }, {}, unified("/host")).groups[0]?.parent).toBe(top);
  });

  it("refuses where the group above does not give the controller on, and tells how a container gets it", () => {
    group("", { available: all, given: "pids", isRoot: true });
    group("a", { available: "pids" });
    const hidden = { ...unified("/a"), mountInfo: mountLine("cgroup2", join(top, "a")), ownGroups: "0::/\n" };
    expect(() => planLimits({ memoryBytes: 2 ** 26 }, {}, hidden)).toThrow(/no "memory" controller/);
    rmSync(join(top, "cgroup.procs"));
    expect(() => planLimits({ memoryBytes: 2 ** 26 }, {}, unified("/a"))).toThrow(
      expect.objectContaining({ cure: expect.stringContaining("writable-cgroups") }),
    );
  });

  it("needs no group for limits of each process, and takes the lower one of those asked for and its own", () => {
    const ownLimits = [
      "Limit                     Soft Limit           Hard Limit           Units     ",
      "Max cpu time              unlimited            unlimited            seconds   ",
      "Max open files            1024                 20000                files     ",
    ].join("\n");
    const plan = planLimits({ openFiles: 30_000, cpuSeconds: 9, fileBytes: 2 ** 20 }, {}, hostOf({ ownLimits }));
    expect(plan.outside).toEqual({ openFiles: 20_000, cpuSeconds: 9, fileBytes: 2 ** 20 });
    expect(plan.inside).toEqual({});
    expect(plan.prlimit).toBeUndefined();
    expect(plan.enforced.map(({ limit, by }) => [limit, by])).toEqual([
      ["cpuSeconds", "rlimit"],
      ["fileBytes", "rlimit"],
      ["openFiles", "rlimit"],
    ]);
  });

  it("sets inside what bubblewrap itself would trip over", () => {
    const plan = planLimits({ openFiles: 16, fileBytes: 0 }, {}, hostOf({}));
    expect(plan.outside).toEqual({});
    expect(plan.inside).toEqual({ openFiles: 16, fileBytes: 0 });
  });

  it("refuses a file size that nothing here can set exactly", () => {
    const host = hostOf({ findTool: () => undefined });
    expect(() => planLimits({ fileBytes: 1000 }, {}, host)).toThrow(/limits\.fileBytes .* 512/);
  });

  it("says which limits are watched, and that a folder can be evaded where nothing holds the sandbox still", () => {
    const { enforced, groups } = planLimits({ diskBytes: 2 ** 20, outputBytes: 2 ** 10 }, {}, none(0));
    expect(enforced.map(({ by }) => by)).toEqual(["watched", "watched"]);
    expect(groups).toEqual([]);
  });

  it("takes one group of version 2 for what is bounded and for what is held still", () => {
    group("", { available: all, given: all, isRoot: true });
    group("a", { available: all, members: "7" });
    expect(planLimits({ diskBytes: 2 ** 20 }, {}, unified("/a"))).toMatchObject({
      groups: [{ version: 2, parent: join(top, "a"), controllers: [], writes: [] }],
      enforced: [{ limit: "diskBytes", by: "watched-frozen" }],
    });
    const both = planLimits({ diskBytes: 2 ** 20, processes: 4 }, {}, unified("/a"));
    expect(both.groups.map(({ parent, controllers }) => [parent, controllers])).toEqual([[top, ["pids"]]]);
  });

  it("holds still by the freezer of version 1 where only that is there, also for the bound of a bound folder alone", () => {
    for (const name of ["pids", "freezer"]) mkdirSync(join(top, name));
    const mounts = ["pids", "freezer"].map((name) => mountLine("cgroup", join(top, name), `rw,${name}`));
    const host = hostOf({ mountInfo: mounts.join(""), ownGroups: "2:pids:/\n1:freezer:/\n" });
    const plan = planLimits({ processes: 4 }, {}, host, true);
    expect(plan.groups.map(({ version, parent, controllers }) => [version, parent, controllers])).toEqual([
      [1, join(top, "pids"), ["pids"]],
      [1, join(top, "freezer"), []],
    ]);
    expect(planLimits({ processes: 4 }, {}, host).groups).toHaveLength(1);
  });
});
