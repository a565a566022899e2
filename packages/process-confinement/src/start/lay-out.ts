import { limitSandbox, type SandboxLimits } from "../limits/limit-sandbox.js";
import { type LimitsHost, thisLimitsHost } from "../limits/limits-host.js";
import { type PlannedSandbox, planSandbox } from "../plan/plan-sandbox.js";
import { type BindMark, markBinds } from "../plan/verify-binds.js";
import type { SandboxTerms } from "../reading/sandbox-terms.js";
import type { ConfinementHost } from "./host.js";
import type { HostTools } from "./refuse-here.js";

/** All that is decided of a sandbox before anything is made. */
export interface Layout {
  readonly tools: HostTools;
  readonly terms: SandboxTerms;
  readonly machine: LimitsHost;
  readonly limits: SandboxLimits;
  readonly plan: PlannedSandbox;
  /** What the sources are now. */
  readonly binds: readonly BindMark[];
}

/** @throws {ConfinementError} What `planSandbox` and `limitSandbox` throw. */
export function layOut(host: ConfinementHost, tools: HostTools, terms: SandboxTerms): Layout {
  const machine = thisLimitsHost(host.findTool);
  const limits = limitSandbox(terms, machine);
  const plan = planSandbox(terms, { findTool: host.findTool, innerPrefix: limits.innerPrefix });
  return { tools, terms, machine, limits, plan, binds: markBinds(plan.mounts) };
}
