import type { EnforcementReport } from "../enforcement.js";
import { ConfinementError, type ConfinementErrorCode } from "../errors.js";
import type { ConfinementLimits } from "../policy.js";
import { type ConfinementHost, thisHost } from "../start/host.js";
import { wasTried } from "./finding.js";
import { probeOn } from "./probe.js";
import { readScope } from "./read-scope.js";

/** What a host needs to hold before it serves anybody. */
export interface SelfTestOptions {
  /** Limits that its policies name. Default: none. */
  readonly limits?: readonly (keyof ConfinementLimits)[] | undefined;
  /** As for `probe`. */
  readonly interpreter?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * For the start of a host: tries what everything rests on and the limits that are named, and refuses unless all of it holds.
 * Without limits it takes 0.2 s on an idle machine.
 * @throws {ConfinementError} `CONFINEMENT_UNAVAILABLE` with the first thing that does not hold, its cause and its cure;
 * `LIMIT_NOT_ENFORCEABLE` for a limit; `INTERPRETER_NOT_FOUND`; `SANDBOX_OPTION_INVALID`. Also the signal's reason.
 */
export function selfTest(options: SelfTestOptions = {}): Promise<EnforcementReport> {
  return selfTestOn(thisHost(), options);
}

/** As `selfTest`, on a machine that is passed in. */
export async function selfTestOn(host: ConfinementHost, options: SelfTestOptions): Promise<EnforcementReport> {
  const scope = readScope(options, []);
  const report = await probeOn(host, scope);
  const failures = report.findings.filter((finding) => !finding.holds);
  // What was seen to fail tells more than what could not be tried because of it.
  const failed = failures.find(wasTried) ?? failures[0];
  if (failed === undefined) return report;
  const { aspect, seen, cause, cure } = failed;
  const isLimit = scope.limits.some((limit) => limit === aspect);
  throw new ConfinementError(codeOf(aspect, isLimit), `${aspect} does not hold here: ${seen}; ${cause}`, {
    field: isLimit ? `limits.${aspect}` : undefined,
    cure,
  });
}

function codeOf(aspect: string, isLimit: boolean): ConfinementErrorCode {
  if (isLimit) return "LIMIT_NOT_ENFORCEABLE";
  return aspect === "interpreter" ? "INTERPRETER_NOT_FOUND" : "CONFINEMENT_UNAVAILABLE";
}
