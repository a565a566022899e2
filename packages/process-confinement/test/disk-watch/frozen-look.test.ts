import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { lookAtAll } from "../../src/disk-watch/look.js";
import {
  type DiskExcess,
  type DiskWatch,
  type WatchOptions,
  watchFolders,
} from "../../src/disk-watch/watch-folders.js";
import { childrenOf } from "../../src/identity/process-identity.js";
import { type ConfinementPolicy, createPreparedSandboxes, type Sandbox } from "../../src/index.js";
import type { Freezer } from "../../src/limits/freezer.js";
import { readOr } from "../../src/machine/read-or.js";
import { createGate } from "../../src/waits/gate.js";
import { becomesTrue } from "../../src/waits/within.js";
import { bounded, start } from "../limits/bounded.js";
import { freezerVersions, onlyVersion } from "../limits/freezers.js";
import { groupsTest } from "../limits/groups-test.js";
import { sandboxesOfThisFile } from "../sandboxes.js";
import { scratchFolder } from "./trees.js";

const mib = 2 ** 20;
/** The padding of the program takes 16 MiB. */
const maxBytes = 48 * mib;
const evader = fileURLToPath(new URL("../programs/move-past-walk.py", import.meta.url));
const heirs = fileURLToPath(new URL("../programs/hand-down.py", import.meta.url));
const stepMib = 16;
/** It writes megabytes while the walk takes half of the processors: 20 s where both are busy. */
const evadingMs = 120_000;
const sandboxes = sandboxesOfThisFile();
const never = new AbortController().signal;

/** A watch and its alarm; ends with the test. */
function watched(options: Omit<WatchOptions, "onExcess">): { excess: Promise<DiskExcess>; watch: DiskWatch } {
  const alarm = createGate<DiskExcess>();
  const watch = watchFolders({ intervalMs: 5, ...options, onExcess: alarm.open });
  onTestFinished(() => watch.close());
  return { excess: alarm.passed, watch };
}

/** The MiB that it says to hold, until it holds the most or ends. */
async function lastHeld(stdout: Readable | null, mostMib: number): Promise<number> {
  let held = 0;
  if (stdout === null) return held;
  for await (const line of createInterface({ input: stdout })) {
    held = Number(line);
    if (held === mostMib) break;
  }
  return held;
}

describe.each(freezerVersions.map((version) => ({ version })))(
  "with control groups of version $version",
  ({ version }) => {
    groupsTest(
      "what a program moves past the walk is not seen while it runs, and is seen once it stands still",
      async () => {
        const folder = scratchFolder();
        const folders = [{ path: folder, maxBytes }];
        const { groups, prefix } = bounded({ diskBytes: maxBytes }, undefined, onlyVersion(version));
        const child = await start([...prefix, "python3", evader, folder, `${stepMib}`, "64"]);
        const unfrozen = watched({ folders });
        expect(await Promise.race([lastHeld(child.stdout, 64), unfrozen.excess])).toBe(64);
        await unfrozen.watch.close();
        expect(await watched({ folders, freezer: groups.freezer }).excess).toEqual({
          path: folder,
          reason: `it holds more than ${maxBytes} bytes`,
        });
        child.kill("SIGKILL"); // it was thawed: in version 1 it would not end
        await once(child, "exit");
      },
      evadingMs,
    );

    groupsTest("what was frozen dies once it is thawed, and an ended group can be thawed but not frozen", async () => {
      const { groups, prefix } = bounded({ diskBytes: maxBytes }, undefined, onlyVersion(version));
      const child = await start([...prefix, "/bin/sh", "-c", "echo 1; exec sleep 60"]);
      expect(await groups.freezer?.freeze(5_000, never)).toBe(true);
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      groups.freezer?.thaw();
      await exited;
      expect(await groups.end()).toBe(true);
      await expect(groups.freezer?.freeze(5_000, never)).rejects.toThrow("ENOENT");
      groups.freezer?.thaw();
    });
  },
);

describe("a sandbox", () => {
  const evading = {
    file: "/usr/bin/python3",
    args: ["-I", "/opt/evader", "/workspace", `${stepMib}`, "160"],
    env: {},
  };
  const ways = [
    { title: "that", open: (policy: ConfinementPolicy) => sandboxes.open({ ...evading, policy }) },
    { title: "that was prepared and", open: openPrepared },
  ];
  for (const { title, open } of ways)
    groupsTest(
      `${title} moves its files past the walk is ended for what is over its bound`,
      async () => {
        const sandbox = await open({
          readOnly: [{ source: evader, target: "/opt/evader" }],
          workspace: { kind: "folder", source: scratchFolder() },
          limits: { diskBytes: maxBytes },
        });
        expect(sandbox.enforced).toContainEqual({ limit: "diskBytes", value: maxBytes, by: "watched-frozen" });
        // 32 beside the padding; then a step in each of the two walks of a look, and one before the next look.
        expect(await lastHeld(sandbox.stdout, 160)).toBeLessThanOrEqual(32 + 3 * stepMib);
        expect(await sandbox.exited).toMatchObject({ reason: "disk" });
        expect(sandbox.identity.controlGroups.filter(existsSync)).toEqual([]);
      },
      evadingMs,
    );

  async function openPrepared(policy: ConfinementPolicy): Promise<Sandbox> {
    const { file, ...start } = evading;
    const prepared = createPreparedSandboxes({ name: "watched", file, policy });
    onTestFinished(() => prepared.close());
    await prepared.ready();
    const waiting = childrenOf(process.pid);
    const sandbox = await prepared.open(start);
    onTestFinished(() => sandbox.close());
    expect(waiting).toContain(sandbox.identity.outer.pid);
    return sandbox;
  }

  groupsTest(
    "that hands a file without a name from process to process is ended for what is over its bound",
    async () => {
      const sandbox = await sandboxes.open({
        file: "/usr/bin/python3",
        args: ["-I", "/opt/heirs", "/workspace", "256", "300", "15"],
        policy: {
          readOnly: [{ source: heirs, target: "/opt/heirs" }],
          workspace: { kind: "folder", source: scratchFolder() },
          limits: { diskBytes: 4 * mib },
        },
      });
      expect(await sandbox.exited).toMatchObject({ reason: "disk" });
    },
    evadingMs,
  );

  groupsTest("that is closed while it stands still ends at once", async () => {
    const source = scratchFolder();
    for (let index = 0; index < 20_000; index++) writeFileSync(join(source, `${index}`), "");
    const sandbox = await sandboxes.open({
      script: "while :; do : >/workspace/x; rm /workspace/x; done",
      policy: { workspace: { kind: "folder", source }, limits: { diskBytes: 2 ** 40 } },
    });
    const standsStill = (): boolean =>
      sandbox.identity.controlGroups.some((group) => readOr(`${group}/cgroup.events`, "").includes("frozen 1"));
    // Longer than the pause between two looks.
    expect(await becomesTrue(standsStill, 10_000)).toBe(true);
    await sandbox.kill();
    expect(await sandbox.exited).toMatchObject({ reason: "closed" });
  });
});

describe("a look at what changes meanwhile", () => {
  /** As the kernel's own, with a fault; counts how often it was thawed. */
  const faulty = (freeze: Freezer["freeze"]): Freezer & { readonly thawed: () => number } => {
    let thawed = 0;
    return { freeze, thaw: () => void thawed++, thawFile: undefined, thawed: () => thawed };
  };
  const changing = (): { path: string; maxBytes: number } => {
    const path = scratchFolder();
    // A moment ago, for as long as the test takes: the slack of the clock is short.
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.now());
    onTestFinished(() => now.mockRestore());
    writeFileSync(join(path, "new"), "");
    return { path, maxBytes };
  };

  it.each([
    { name: "cannot be frozen", freeze: () => Promise.reject(new Error("EIO")), reason: /EIO/ },
    { name: "does not come to stand still", freeze: () => Promise.resolve(false), reason: /do not stand still/ },
  ])("sees nothing where the sandbox $name, and lets it go", async ({ freeze, reason }) => {
    const freezer = faulty(freeze);
    const looks = await lookAtAll({ folders: [changing()], freezer }, never);
    expect(looks).toMatchObject([{ verdict: "unseen", reason: expect.stringMatching(reason) }]);
    expect(freezer.thawed()).toBe(1);
  });

  it("holds nothing still for longer than 10 s", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const freezer = faulty((_, bound) => {
      vi.advanceTimersByTime(9_999);
      expect(bound.aborted).toBe(false);
      vi.advanceTimersByTime(1);
      return Promise.resolve(true);
    });
    const looks = await lookAtAll({ folders: [changing()], freezer }, never);
    expect(looks).toMatchObject([{ verdict: "unseen", reason: expect.stringContaining("longer than 10000 ms") }]);
    expect(freezer.thawed()).toBe(1);
  });

  it("gives the alarm where that goes on", async () => {
    const freezer = faulty(() => Promise.reject(new Error("EIO")));
    const folder = changing();
    expect(await watched({ folders: [folder], freezer }).excess).toMatchObject({
      path: folder.path,
      reason: expect.stringContaining("EIO"),
    });
  });

  it("lets the sandbox go when the watch is closed in the middle", async () => {
    const closing = new AbortController();
    const freezer = faulty(async () => {
      closing.abort("enough");
      return true;
    });
    await expect(lookAtAll({ folders: [changing()], freezer }, closing.signal)).rejects.toBe("enough");
    expect(freezer.thawed()).toBe(1);
  });

  it("takes what is found once all stands still, and freezes nothing where nothing changed", async () => {
    const folder = changing();
    const freezer = faulty(() => Promise.resolve(true));
    const looks = await lookAtAll({ folders: [folder], freezer }, never);
    expect(looks).toMatchObject([{ verdict: "within", changed: true }]);
    expect(freezer.thawed()).toBe(1);
    vi.restoreAllMocks();
    // Time is what is tested.
    await expect.poll(async () => (await lookAtAll({ folders: [folder], freezer }, never))[0]?.changed).toBe(false);
    const thawed = freezer.thawed();
    await lookAtAll({ folders: [folder], freezer }, never);
    expect(freezer.thawed()).toBe(thawed);
  });
});
