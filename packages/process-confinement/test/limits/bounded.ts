import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { afterEach, expect } from "vitest";
import type { ControlGroups } from "../../src/limits/control-groups.js";
import { joinLine } from "../../src/limits/join.js";
import type { LimitsHost } from "../../src/limits/limits-host.js";
import { makeControlGroups } from "../../src/limits/make-groups.js";
import { type LimitPlan, planLimits } from "../../src/limits/plan.js";
import type { ConfinementLimits } from "../../src/policy.js";

const opened: ControlGroups[] = [];
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const groups of opened.splice(0)) expect(await groups.end()).toBe(true);
});

/** Groups for these limits, and what to put before a command that is to live in them; removed after the test. */
export function bounded(limits: ConfinementLimits, name: string = `test-${randomUUID()}`, host?: LimitsHost) {
  const plan = planLimits(limits, { outside: 0, inside: 0 }, host);
  const groups = makeControlGroups(plan.groups, name);
  opened.push(groups);
  return { groups, name, plan, prefix: joined(plan, groups.paths) };
}

/** What to put before a command that is to live in these groups, under these rlimits. */
export function joined(plan: LimitPlan, groups: readonly string[]): readonly string[] {
  return ["/bin/sh", "-c", `${joinLine(plan, groups)} "$@"`, "sh"];
}

/** Runs a command to its end. */
export function run([file = "", ...args]: readonly string[]) {
  return spawnSync(file, args, { encoding: "utf8", timeout: 20_000 });
}

/** Resolves when the command has said its first word. */
export async function start([file = "", ...args]: readonly string[]): Promise<ChildProcess> {
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "ignore"] });
  children.push(child);
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("close", () => reject(new Error("it ended without a word")));
  });
  return child;
}
