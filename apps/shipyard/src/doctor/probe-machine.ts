import type { EnvironmentLimits } from "@berth/environment-leases";
import { type ConfinementLimits, type EnforcementReport, probe } from "@berth/process-confinement";
import type { ShipyardConfig } from "../config/config.js";
import { findTemplate } from "../profiles/find-template.js";

export interface ProbeMachineOptions {
  /** `profiles`: of limits only those that a profile asks for, which takes a third of the time. */
  readonly limits: "all" | "profiles";
  readonly signal: AbortSignal | undefined;
}

/** Limits of an environment that a machine may be unable to hold. */
export const probedLimits: readonly (keyof EnvironmentLimits & keyof ConfinementLimits)[] = [
  "memoryBytes",
  "processes",
  "cpus",
  "fileBytes",
  "openFiles",
];

/** What this machine really enforces, found by trying, with the interpreter that sessions run in. */
export function probeMachine(
  { profile, profiles }: Pick<ShipyardConfig, "profile" | "profiles">,
  { limits, signal }: ProbeMachineOptions,
): Promise<EnforcementReport> {
  const template = findTemplate(profiles[profile]?.template ?? "", process.env["PATH"]);
  // One that is not found is told with its profile.
  const interpreter = "file" in template ? template.file : undefined;
  return probe({ interpreter, signal, limits: limits === "all" ? undefined : limitsAskedFor(profiles) });
}

function limitsAskedFor(profiles: ShipyardConfig["profiles"]): readonly (keyof ConfinementLimits)[] {
  const asked = Object.values(profiles).map(({ policy }) => policy?.limits);
  return probedLimits.filter((limit) => asked.some((limits) => limits?.[limit] !== undefined));
}
