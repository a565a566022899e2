import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { EnforcementFinding, EnforcementReport } from "../../src/enforcement.js";
import { findPlaces } from "../../src/limits/group-place.js";
import { readHierarchies } from "../../src/limits/hierarchies.js";
import { thisLimitsHost } from "../../src/limits/limits-host.js";
import { type ConfinementHost, thisHost } from "../../src/start/host.js";

const programs = fileURLToPath(new URL("../programs/", import.meta.url));

/** Starts a command as the user nobody. */
export const ordinaryUser: readonly string[] = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];

/** Starts a command as an ordinary user in control groups that belong to it; they are removed after the test. */
export function inHandedGroups(uid: number): readonly string[] {
  const places = findPlaces(readHierarchies(thisLimitsHost()), ["memory", "pids", "cpu"]);
  const groups = places.map(({ parent }) => join(parent, `handed-${process.pid}`));
  for (const group of groups) {
    mkdirSync(group);
    for (const path of [group, join(group, "cgroup.procs"), join(group, "cgroup.subtree_control")]) {
      if (existsSync(path)) chownSync(path, uid, uid);
    }
  }
  onTestFinished(() => {
    for (const group of groups) rmdirSync(group);
  });
  const enter = groups.map((group) => `echo $$ >${group}/cgroup.procs && `).join("");
  return ["/bin/sh", "-c", `${enter}exec "$@"`, "sh", ...ordinaryUser];
}

/** Whether a process that is started so can read this checkout and its Node. */
export function mayRun([file = "", ...args]: readonly string[]): boolean {
  const parse = ["--check", join(programs, "probe.mjs")];
  return spawnSync(file, [...args, process.execPath, ...parse], { cwd: "/", timeout: 20_000 }).status === 0;
}

/** What the built package tells in a process of its own, which is started by `wrap`. */
export function told(
  wrap: readonly string[],
  which: "probe" | "selfTest",
  options: object = {},
  node = process.execPath,
) {
  const [file = "", ...args] = [...wrap, node, join(programs, "probe.mjs"), which, JSON.stringify(options)];
  const { stdout, stderr } = spawnSync(file, args, { encoding: "utf8", cwd: "/", timeout: 25_000 });
  if (stdout === "") throw new Error(stderr);
  const { report, error }: { report?: EnforcementReport; error?: unknown } = JSON.parse(stdout);
  return { report, error };
}

/** One finding of a report; every report has one for each aspect. */
export function finding(report: EnforcementReport | undefined, aspect: string): EnforcementFinding {
  const found = report?.findings.find((one) => one.aspect === aspect);
  if (found === undefined) throw new Error(`nothing was found of ${aspect}`);
  return found;
}

/** What does not hold, by name. */
export function failing(report: EnforcementReport | undefined): readonly string[] {
  return (report?.findings ?? []).filter(({ holds }) => !holds).map(({ aspect }) => aspect);
}

/** This machine, with a bubblewrap that leaves options out and adds others. */
export function weakMachine(change: {
  readonly without: readonly (readonly string[])[];
  readonly extra: readonly string[];
}): ConfinementHost {
  const folder = mkdtempSync(join(tmpdir(), "berth-weak-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "bwrap");
  const real = thisHost().findTool("bwrap") ?? "";
  writeFileSync(file, `#!/bin/sh\nexec python3 -I ${programs}weak-bwrap.py '${JSON.stringify(change)}' ${real} "$@"\n`);
  chmodSync(file, 0o755);
  return { ...thisHost(), findTool: (name) => (name === "bwrap" ? file : thisHost().findTool(name)) };
}
