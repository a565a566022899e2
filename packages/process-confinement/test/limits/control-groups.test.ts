import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { controlGroupsAt, recordedControlGroups } from "../../src/limits/control-groups.js";
import { makeControlGroups } from "../../src/limits/make-groups.js";
import { sweepControlGroups } from "../../src/limits/sweep-groups.js";
import { bounded, run, start } from "./bounded.js";
import { groupsTest } from "./groups-test.js";

const mib = 2 ** 20;

describe("control groups of the real kernel", () => {
  groupsTest("the kernel kills what takes more memory than the bound, and counts it", () => {
    const { groups, prefix } = bounded({ memoryBytes: 64 * mib });
    expect(run([...prefix, "python3", "-c", "print(len(bytearray(16 << 20)))"]).stdout).toBe("16777216\n");
    expect(groups.memoryKills()).toBe(0);
    expect(run([...prefix, "python3", "-c", "bytearray(100 << 20)"]).signal).toBe("SIGKILL");
    expect(groups.memoryKills()).toBe(1);
  });

  groupsTest("memory of all processes counts together, though each is far below the bound", () => {
    const { groups, prefix } = bounded({ memoryBytes: 64 * mib });
    const program = `
import os
def hold():
    os.close(end)
    kept = bytearray(16 << 20)
    os.read(gate, 1)
    os._exit(0)
gate, end = os.pipe()
children = [os.fork() or hold() for _ in range(6)]
killed = [os.WIFSIGNALED(os.waitpid(-1, 0)[1])]
os.close(end)
`;
    run([...prefix, "python3", "-c", program]);
    expect(groups.memoryKills()).toBeGreaterThan(0);
  });

  groupsTest("processes and threads together come up to the bound and no further", () => {
    const { groups, prefix } = bounded({ processes: 8 });
    const program = `
import threading
gate = threading.Event()
started = 1
try:
    while started < 100:
        threading.Thread(target=gate.wait).start()
        started += 1
except RuntimeError:
    pass
print(started, flush=True)
gate.set()
`;
    expect(run([...prefix, "python3", "-c", program]).stdout).toBe("8\n");
    expect(groups.usage().processes).toBe(0);
  });

  groupsTest("a share of a processor is not exceeded", () => {
    const { groups, prefix } = bounded({ cpus: 0.25 });
    const program = `
import time
until = time.monotonic() + 0.8
while time.monotonic() < until: pass
print(time.process_time() / 0.8)
`;
    const share = Number(run([...prefix, "python3", "-c", program]).stdout);
    // Time is what is tested. Counted in periods of 100 ms, of which the first may be spent whole.
    expect(share).toBeGreaterThan(0.05);
    expect(share).toBeLessThan(0.4);
    // Counted by version 2, and by version 1 where `cpuacct` is one tree with `cpu`.
    expect(groups.usage().cpuMs ?? 0).toBeLessThan(400);
  });

  groupsTest("what the members use is told while they live", async () => {
    const { groups, prefix } = bounded({ memoryBytes: 256 * mib, processes: 10 });
    const program = "import signal; kept = bytearray(32 << 20); print(1, flush=True); signal.pause()";
    await start([...prefix, "python3", "-c", program]);
    expect(groups.isPopulated()).toBe(true);
    expect(groups.usage()).toMatchObject({ processes: 1 });
    expect(groups.usage().memoryBytes).toBeGreaterThan(32 * mib);
  });
});

describe("the end of control groups", () => {
  const escaping = `
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for leave in (lambda: None, os.setsid):
    if os.fork() == 0:
        leave()
        os.fork()
        signal.pause()
print(1, flush=True)
signal.pause()
`;

  groupsTest("takes every member with it, whatever session it went to, and the removed folders prove it", async () => {
    const { groups, prefix } = bounded({ processes: 16, memoryBytes: 256 * mib });
    const child = await start([...prefix, "python3", "-c", escaping]);
    const closed = once(child, "close");
    expect(await groups.end()).toBe(true);
    expect(groups.paths.filter(existsSync)).toEqual([]);
    await closed; // nobody is left to hold its pipe
    expect(await groups.end()).toBe(true);
  });

  groupsTest("converges on a fork bomb also without the kernel's own way of version 2", async () => {
    const { groups, plan, name, prefix } = bounded({ processes: 64 });
    const [pids = ""] = groups.paths.filter(
      (path) => existsSync(`${path}/pids.max`) && !existsSync(`${path}/cgroup.kill`),
    );
    if (pids === "")
      return expect(
        plan.groups.every(({ version }) => version === 2),
        name,
      ).toBe(true);
    const child = await start([...prefix, "/bin/sh", "-c", "b() { b | b & }; echo 1; while :; do b; done 2>/dev/null"]);
    const closed = once(child, "close");
    expect(await controlGroupsAt([pids]).end()).toBe(true);
    await closed;
  });

  groupsTest("says so when a member is left after the time, and rejects with the reason of an abort", async () => {
    const { groups, prefix } = bounded({ processes: 4 });
    await start([...prefix, "/bin/sh", "-c", "echo 1; exec sleep 60"]);
    expect(await groups.end({ timeoutMs: 0 })).toBe(false);
    await expect(groups.end({ signal: AbortSignal.abort("enough") })).rejects.toBe("enough");
  });

  groupsTest("a group that a killed host left empty does not stop the next of its name", () => {
    const { plan, name } = bounded({ processes: 4 });
    expect(makeControlGroups(plan.groups, name).isPopulated()).toBe(false);
  });

  groupsTest("groups of a process that is gone are swept by their prefix, and no others", async () => {
    const { plan } = bounded({ processes: 4 });
    const prefix = `swept-${process.pid}`;
    const gone = spawnSync("true").pid;
    const names = [
      `${prefix}-${gone}-0123456789ab`,
      `${prefix}-${process.pid}-0123456789ab`,
      `${prefix}-${gone}-short`,
    ];
    const made = names.map((name) => makeControlGroups(plan.groups, name));
    const left = (): readonly number[] => made.map(({ paths }) => paths.filter(existsSync).length);
    const before = left();
    sweepControlGroups(prefix);
    expect(left()).toEqual([0, ...before.slice(1)]);
    sweepControlGroups("other");
    expect(left()).toEqual([0, ...before.slice(1)]);
    for (const groups of made) await groups.end();
  });

  it.each(["", "a.b", ".*", "a/b", "x".repeat(41)])("the prefix %j is refused", (prefix) => {
    expect(() => sweepControlGroups(prefix)).toThrow(
      expect.objectContaining({ code: "SANDBOX_OPTION_INVALID", field: "prefix" }),
    );
  });

  groupsTest("a group with a living member does, by name", async () => {
    const { groups, plan, name, prefix } = bounded({ processes: 4 });
    await start([...prefix, "/bin/sh", "-c", "echo 1; exec sleep 60"]);
    expect(() => makeControlGroups(plan.groups, name)).toThrow(
      expect.objectContaining({ code: "SANDBOX_NOT_STARTED", field: "name", message: expect.stringContaining(name) }),
    );
    expect(groups.isPopulated()).toBe(true);
  });

  groupsTest("a value that the kernel refuses leaves no group behind, and is told with the kernel's reason", () => {
    const { plan, groups } = bounded({ processes: 4 });
    const broken = plan.groups.map((request) => ({
      ...request,
      writes: request.writes.map((write) => ({ ...write, value: "many" })),
    }));
    expect(() => makeControlGroups(broken, "test-refused-value")).toThrow(
      expect.objectContaining({ code: "LIMIT_NOT_ENFORCEABLE", message: expect.stringContaining("EINVAL") }),
    );
    const left = groups.paths.map((path) => join(dirname(path), "test-refused-value")).filter(existsSync);
    expect(left).toEqual([]);
  });

  groupsTest("hosts that share the common folder do not disturb each other", async () => {
    const { plan } = bounded({ processes: 4 });
    const folder = dirname(bounded({ processes: 4 }).groups.paths[0] ?? "");
    const count = scaledCount("control groups beside another host that makes and removes the common folder", 4_000);
    const churn = `
import os
print(1, flush=True)
while True:
    for act in (os.mkdir, os.rmdir):
        for path in ("${folder}", "${folder}/other"):
            try: act(path)
            except OSError: pass
`;
    const child = await start(["python3", "-c", churn]);
    for (let round = 0; round < count; round++) {
      expect(await makeControlGroups(plan.groups, "test-beside-churn").end()).toBe(true);
    }
    child.kill("SIGKILL");
    await once(child, "close");
    await controlGroupsAt([join(folder, "other")]).end();
  });

  groupsTest("what another process recorded is found again and ended", async () => {
    const { groups, name, prefix } = bounded({ processes: 4 });
    await start([...prefix, "/bin/sh", "-c", "echo 1; exec sleep 60"]);
    const recorded = recordedControlGroups(groups.paths, name);
    expect(recorded.isPopulated()).toBe(true);
    expect(await recorded.end()).toBe(true);
    expect(recordedControlGroups(groups.paths, name).isPopulated()).toBe(false);
  });

  it("a damaged record ends nothing", () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-limits-"));
    mkdirSync(join(folder, "berth", "mine"), { recursive: true });
    const foreign = [
      "/",
      "/sys/fs/cgroup",
      "/sys/fs/cgroup/berth/other",
      "/a/berth/../berth/mine",
      join(folder, "berth", "mine"),
      "berth/mine",
    ];
    for (const path of foreign) {
      expect(() => recordedControlGroups([path], "mine"), path).toThrow(
        expect.objectContaining({ code: "SANDBOX_OPTION_INVALID" }),
      );
    }
    expect(existsSync(join(folder, "berth", "mine"))).toBe(true);
    rmSync(folder, { recursive: true });
  });
});
