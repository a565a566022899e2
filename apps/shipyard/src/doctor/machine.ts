import { type EnforcementFinding, probe } from "@berth/process-confinement";
import type { ShipyardConfig } from "../config.js";
import { findTemplate } from "../find-template.js";
import type { Check } from "./check.js";

/** What this machine really enforces, found by trying. A fault of the sandbox fails only where a sandbox is asked for. */
export async function checkMachine(
  { provider, profile, profiles }: ShipyardConfig,
  signal: AbortSignal,
): Promise<readonly Check[]> {
  const template = findTemplate(profiles[profile]?.template ?? "", process.env["PATH"]);
  // One that is not found is told with its profile.
  const interpreter = "file" in template ? template.file : undefined;
  const { findings, usable, limits } = await probe({ interpreter, signal });
  const held: readonly string[] = limits;
  return findings.map((finding) => {
    // A limit that does not hold is refused where a profile wants it: the profiles say that below.
    const isLimit = held.includes(finding.aspect) || limitNames.includes(finding.aspect);
    return checkOf(finding, !usable && !isLimit && provider === "bubblewrap" ? "fail" : "warn");
  });
}

const limitNames = ["memoryBytes", "processes", "cpus", "fileBytes", "openFiles"];

function checkOf({ aspect, holds, by, seen, cause, cure }: EnforcementFinding, whenNot: "warn" | "fail"): Check {
  if (holds) return { name: aspect, status: "ok", message: by === undefined ? seen : `${seen} (${by})` };
  return { name: aspect, status: whenNot, message: cause === undefined ? seen : `${seen}: ${cause}`, advice: cure };
}
