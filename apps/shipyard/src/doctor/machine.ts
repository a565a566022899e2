import type { Check } from "@berth/command-line/doctor";
import type { EnforcementFinding, EnforcementReport } from "@berth/process-confinement";
import type { ShipyardConfig } from "../config/config.js";
import { probedLimits } from "./probe-machine.js";

/** What a probe of this machine showed. A fault of the sandbox fails only where a sandbox is asked for. */
export function machineChecks(
  { findings, usable, limits }: EnforcementReport,
  { provider }: Pick<ShipyardConfig, "provider">,
): readonly Check[] {
  const limitNames: readonly string[] = [...limits, ...probedLimits];
  return findings.map((finding) => {
    // A limit that does not hold is refused where a profile wants it: the profiles say that below.
    const isLimit = limitNames.includes(finding.aspect);
    return checkOf(finding, !usable && !isLimit && provider === "bubblewrap" ? "fail" : "warn");
  });
}

function checkOf({ aspect, holds, by, seen, cause, cure }: EnforcementFinding, whenNot: "warn" | "fail"): Check {
  if (holds) return { name: aspect, status: "ok", message: by === undefined ? seen : `${seen} (${by})` };
  return { name: aspect, status: whenNot, message: cause === undefined ? seen : `${seen}: ${cause}`, advice: cure };
}
