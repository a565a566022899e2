import type { ProbeOptions } from "../enforcement.js";
import type { ConfinementLimits } from "../policy.js";
import { createReader } from "../reading/read-values.js";
import { limitAspects } from "./aspects.js";

/** What is tried beside what everything rests on. */
export interface ProbeScope extends ProbeOptions {
  readonly limits: readonly (keyof ConfinementLimits)[];
}

const known = ["limits", "interpreter", "signal"] as const satisfies readonly (keyof ProbeScope)[];

/**
 * Checks what a caller passed: a limit that is misspelled would not be tried. Without `limits` it is `usual`.
 * @throws {ConfinementError} `SANDBOX_OPTION_INVALID`, with the member as `field`.
 */
export function readScope(options: ProbeOptions, usual: ProbeScope["limits"]): ProbeScope {
  const reader = createReader("SANDBOX_OPTION_INVALID");
  reader.refuseUnknown("", reader.object("options", options), known);
  const { interpreter, limits = usual, signal } = options;
  if (!Array.isArray(limits)) reader.fail("limits", "an array of names of limits", limits);
  return {
    interpreter: interpreter === undefined ? undefined : reader.path("interpreter", interpreter),
    limits: limits.map((limit, index) => reader.choice(`limits[${index}]`, limit, limitAspects)),
    signal,
  };
}
