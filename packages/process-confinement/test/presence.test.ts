import { spawn } from "node:child_process";
import { afterEach, describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { markProcess, readBootId, readPidNamespace } from "../src/identity/process-identity.js";
import { endSandbox, findSandbox, type SandboxIdentity } from "../src/index.js";
import { sandboxesOfThisFile } from "./sandboxes.js";

const sandboxes = sandboxesOfThisFile();
const itInside = partTest("bubblewrap");

/** A process that stands for somebody else who got a number of ours. */
const strangers: ReturnType<typeof spawn>[] = [];
const stranger = (): { readonly pid: number; readonly startTime: number; isThere(): boolean } => {
  const child = spawn("/bin/sleep", ["600"], { stdio: "ignore" });
  strangers.push(child);
  return { ...markProcess(child.pid ?? -1), isThere: () => child.exitCode === null && child.signalCode === null };
};
afterEach(() => {
  for (const child of strangers.splice(0)) child.kill("SIGKILL");
});

const record = (changes: Partial<SandboxIdentity> = {}): SandboxIdentity => ({
  name: "recorded",
  bootId: readBootId() ?? "",
  outer: { pid: 4_000_000, startTime: 1 },
  init: { pid: 4_000_001, startTime: 1 },
  hostPidNamespace: readPidNamespace("self") ?? 0,
  pidNamespace: 1,
  controlGroups: [],
  ...changes,
});

describe("a sandbox that another host started", () => {
  itInside("is found and ended by its record, and its control groups are removed", async () => {
    const sandbox = await sandboxes.open({
      script: "trap '' TERM; setsid sleep 600 & read x",
      policy: { limits: { processes: 20 } },
    });
    const identity: SandboxIdentity = JSON.parse(JSON.stringify({ ...sandbox.identity, later: "kept" }));
    expect(findSandbox(identity)).toBe("running");
    expect(await endSandbox(identity)).toBe("gone");
    expect(findSandbox(identity)).toBe("gone");
    expect(await sandbox.exited).toMatchObject({ reason: "killed" });
    expect(await endSandbox(identity)).toBe("gone");
  });

  itInside("may be ended from several sides at once", async () => {
    const { identity } = await sandboxes.open({ script: "read x", policy: { limits: { processes: 20 } } });
    expect(await Promise.all([endSandbox(identity), endSandbox(identity), endSandbox(identity)])).toEqual([
      "gone",
      "gone",
      "gone",
    ]);
  });

  it("is gone after another boot, whoever has its numbers", async () => {
    const other = stranger();
    const identity = record({ bootId: "another", init: other, outer: other });
    expect([findSandbox(identity), await endSandbox(identity)]).toEqual(["gone", "gone"]);
    expect(other.isThere()).toBe(true);
  });

  it("is gone when its numbers belong to others now, and they are not harmed", async () => {
    const other = stranger();
    const stale = { pid: other.pid, startTime: other.startTime - 1 };
    const identity = record({ init: stale, outer: stale });
    expect([findSandbox(identity), await endSandbox(identity)]).toEqual(["gone", "gone"]);
    expect(other.isThere()).toBe(true);
  });

  it("is unknown from another pid namespace, and nobody is harmed", async () => {
    const other = stranger();
    const identity = record({ init: other, outer: other, hostPidNamespace: 1 });
    expect([findSandbox(identity), await endSandbox(identity)]).toEqual(["unknown", "unknown"]);
    expect(other.isThere()).toBe(true);
  });

  it.each([
    { title: "no record", identity: null, field: "identity" },
    { title: "no boot", identity: { ...record(), bootId: "" }, field: "identity.bootId" },
    {
      title: "the machine's process 1",
      identity: record({ init: { pid: 1, startTime: 1 } }),
      field: "identity.init.pid",
    },
    {
      title: "a group of processes",
      identity: record({ outer: { pid: -4, startTime: 1 } }),
      field: "identity.outer.pid",
    },
    {
      title: "a number as text",
      identity: { ...record(), init: { pid: "7", startTime: 1 } },
      field: "identity.init.pid",
    },
    { title: "a place without groups", identity: record({ controlGroups: ["/etc/berth/recorded"] }), field: undefined },
    {
      title: "somebody else's group",
      identity: record({ controlGroups: ["/sys/fs/cgroup/pids/berth/other"] }),
      field: "identity.controlGroups",
    },
    {
      title: "a relative group",
      identity: record({ controlGroups: ["berth/recorded"] }),
      field: "identity.controlGroups[0]",
    },
  ])("is refused with $title in its record", async ({ identity, field }) => {
    const damaged: SandboxIdentity = JSON.parse(JSON.stringify(identity));
    if (field === undefined) return void expect(findSandbox(damaged)).toBe("gone");
    expect(() => findSandbox(damaged)).toThrow(expect.objectContaining({ code: "SANDBOX_OPTION_INVALID", field }));
    await expect(endSandbox(damaged)).rejects.toMatchObject({ code: "SANDBOX_OPTION_INVALID", field });
  });

  it.each(['{"timeoutMs":0}', '{"timeout":5}'])("is not ended with the option %s", async (options) => {
    await expect(endSandbox(record(), JSON.parse(options))).rejects.toMatchObject({ code: "SANDBOX_OPTION_INVALID" });
  });

  it("is not waited for once the caller no longer wants to", async () => {
    const reason = new Error("enough");
    await expect(endSandbox(record(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
