import { existsSync, mkdirSync, readdirSync, rmdirSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasPart, partTest } from "../../../../fixtures/parts.js";
import { probe } from "../../src/index.js";
import { limitAspects } from "../../src/probe/aspects.js";
import { probeOn } from "../../src/probe/probe.js";
import { thisHost } from "../../src/start/host.js";
import { groupsTest } from "../limits/groups-test.js";
import { failing, finding, inHandedGroups, mayRun, ordinaryUser, told, weakMachine } from "./machines.js";

/** What this process has left in the folders for temporary files. */
const left = (): readonly string[] =>
  ["/var/tmp", tmpdir()].flatMap((root) =>
    readdirSync(root).filter((name) => new RegExp(`^berth-probe-[a-z]+-${process.pid}-`).test(name)),
  );

describe("probe where everything is there", () => {
  groupsTest("tells that all of it holds, by what, and what was seen", async (context) => {
    if (!hasPart("bubblewrap")) context.skip("needs bubblewrap");
    const report = await probe({ interpreter: "/usr/bin/python3" });
    expect(failing(report)).toEqual([]);
    expect(report).toMatchObject({
      usable: true,
      bubblewrap: expect.stringMatching(/^\d+\.\d+/),
      limits: limitAspects,
    });
    for (const { by, seen, cause, cure } of report.findings) {
      expect([by, seen, cause, cure]).toEqual([expect.any(String), expect.any(String), undefined, undefined]);
    }
    expect(finding(report, "memoryBytes").by).toMatch(/^cgroup-v[12]$/);
    expect(finding(report, "descriptors").seen).toMatch(/ 0, 1, 2$/);
    expect(left()).toEqual([]);
  });

  partTest("bubblewrap")("tries only the limits that are named, and tells nothing of the others", async () => {
    const report = await probe({ limits: ["fileBytes"] });
    expect(report).toMatchObject({ usable: true, limits: ["fileBytes"] });
    const told = report.findings.map(({ aspect }) => aspect);
    expect(limitAspects.filter((limit) => told.includes(limit))).toEqual(["fileBytes"]);
  });

  partTest("bubblewrap")("rejects with the reason of an abort, and leaves nothing behind", async () => {
    const ending = new AbortController();
    const probing = probe({ signal: ending.signal });
    ending.abort("enough");
    await expect(probing).rejects.toBe("enough");
    await expect(probe({ signal: AbortSignal.abort("before") })).rejects.toBe("before");
    expect(left()).toEqual([]);
  });

  partTest("bubblewrap")("removes what a probe that was killed left long ago, and nothing else", async () => {
    // No process has the highest number that a kernel gives and one more.
    const owners = { old: 4_194_305, young: 4_194_305, living: process.pid };
    const folderOf = (name: keyof typeof owners): string =>
      join(tmpdir(), `berth-probe-limit-${owners[name]}-${name}${process.pid}`);
    for (const name of ["old", "young", "living"] as const) mkdirSync(folderOf(name));
    for (const name of ["old", "living"] as const) utimesSync(folderOf(name), 0, 0);
    await probeOn(thisHost(), { limits: [] });
    expect(existsSync(folderOf("old"))).toBe(false);
    for (const name of ["young", "living"] as const) rmdirSync(folderOf(name));
  });
});

describe("probe where something is missing", () => {
  it("tells without bubblewrap that it is missing and how to get it, and of the rest only that it was not tried", async () => {
    const report = await probeOn({ ...thisHost(), findTool: () => undefined }, { limits: limitAspects });
    expect(report).toMatchObject({ usable: false, bubblewrap: undefined, limits: [] });
    const [first, ...rest] = report.findings;
    expect(first).toMatchObject({
      aspect: "bubblewrap",
      cause: expect.stringContaining("not installed"),
      cure: expect.stringContaining("apt-get install bubblewrap"),
    });
    for (const { seen, holds, cause, cure } of rest) {
      expect({ seen, holds }).toEqual({ seen: "it was not tried", holds: false });
      expect([cause, cure]).toEqual([expect.stringContaining("not installed"), expect.stringContaining("apt-get")]);
    }
  });

  it("tells on another system, and in a worker thread, why nothing holds", async () => {
    const elsewhere = await probeOn({ ...thisHost(), platform: "darwin" }, { limits: [] });
    expect(finding(elsewhere, "bubblewrap").cause).toMatch(/darwin/);
    const inWorker = await probeOn({ ...thisHost(), isMainThread: false }, { limits: [] });
    expect(finding(inWorker, "bubblewrap").cause).toMatch(/main thread/);
  });

  partTest("bubblewrap")(
    "tells where user namespaces are forbidden that it is them, and that bubblewrap is there",
    () => {
      const outer = ["bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--proc", "/proc"];
      const { report } = told(outer, "probe");
      expect(report).toMatchObject({ usable: false, bubblewrap: expect.any(String), limits: [] });
      expect(finding(report, "bubblewrap").holds).toBe(true);
      expect(finding(report, "user-namespace")).toMatchObject({
        holds: false,
        seen: "no sandbox came up",
        cause: expect.stringMatching(/no further user namespace|allows no user namespaces/),
        cure: expect.stringMatching(/outside of that sandbox|max_user_namespaces/),
      });
      expect(finding(report, "secret").seen).toBe("it was not tried");
    },
  );

  partTest("bubblewrap", "ordinary-user")(
    "tells an ordinary user what holds without control groups, and what does not",
    (context) => {
      if (!mayRun(ordinaryUser)) context.skip("needs a checkout that an ordinary user may read");
      const { report } = told(ordinaryUser, "probe");
      expect(failing(report)).toEqual(["memoryBytes", "cpus"]);
      expect(report).toMatchObject({ usable: true });
      expect(finding(report, "processes")).toMatchObject({
        by: "rlimit",
        seen: "with a bound of 8, 8 processes could be had",
      });
      expect(finding(report, "memoryBytes")).toMatchObject({
        seen: "it was refused (LIMIT_NOT_ENFORCEABLE)",
        cause: expect.stringContaining("65534"),
        cure: expect.stringMatching(/systemd-run|chown/),
      });
    },
  );

  partTest("bubblewrap", "python3")(
    "tells of an interpreter that is none, and that nothing else depends on it",
    async () => {
      const report = await probeOn(thisHost(), { limits: [], interpreter: "/bin/sh" });
      expect(failing(report)).toEqual(["interpreter"]);
      expect(report.usable).toBe(false);
      expect(finding(report, "interpreter")).toMatchObject({ cause: expect.any(String), cure: expect.any(String) });
    },
  );

  groupsTest("tells an ordinary user whom root handed groups over that all limits hold", (context) => {
    if (!hasPart("bubblewrap")) context.skip("needs bubblewrap");
    if (!mayRun(ordinaryUser)) context.skip("needs a checkout that an ordinary user may read");
    const { report } = told(inHandedGroups(65_534), "probe");
    expect(failing(report)).toEqual([]);
    expect(finding(report, "memoryBytes").by).toMatch(/^cgroup-v[12]$/);
  });
});

describe("probe where a protection is missing though it was asked for", () => {
  const weak = (without: readonly (readonly string[])[], extra: readonly string[] = []) =>
    probeOn(weakMachine({ without, extra }), { limits: [] });

  partTest("bubblewrap", "python3")("finds nothing wrong when none is missing, as its control", async () => {
    expect(failing(await weak([]))).toEqual([]);
  });

  partTest("bubblewrap", "python3")(
    "sees an open network, by the host's loopback and its abstract sockets",
    async () => {
      const report = await weak([["--unshare-net"]]);
      expect(failing(report)).toEqual(["net-namespace", "network", "abstract-socket"]);
      expect(finding(report, "network").seen).toBe("the host's loopback was reached from inside");
      expect(report.usable).toBe(false);
    },
  );

  partTest("bubblewrap", "python3")("sees that a secret can be read", async () => {
    const report = await weak([], ["--ro-bind", "/var/tmp", "/tmp/../var/tmp"]);
    expect(failing(report)).toContain("secret");
  });

  partTest("bubblewrap", "python3")("sees that a sandbox outlives its host", async () => {
    expect(failing(await weak([["--die-with-parent"]]))).toEqual(["host-death"]);
  });

  partTest("bubblewrap", "python3")("sees capabilities and shared namespaces", async () => {
    expect(failing(await weak([["--cap-drop", "ALL"]], ["--cap-add", "ALL"]))).toContain("privileges");
    expect(failing(await weak([["--unshare-ipc"], ["--unshare-cgroup"]]))).toEqual([
      "ipc-namespace",
      "cgroup-namespace",
    ]);
  });
});
