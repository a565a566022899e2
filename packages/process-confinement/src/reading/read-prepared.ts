import type { PreparedSandboxesOptions, PreparedStart } from "../prepared-sandboxes.js";
import { createReader } from "./read-values.js";

/** PreparedSandboxesOptions with defaults filled in. Policy and program are read with each sandbox. */
export interface PreparedTerms {
  readonly name: string;
  readonly count: number;
  readonly maxAgeMs: number;
}

/** Leaves room for what is added to it. */
const maxNameLength = 40;

/** @throws {ConfinementError} `SANDBOX_OPTION_INVALID`. */
export function readPreparedOptions(options: PreparedSandboxesOptions): PreparedTerms {
  const reader = createReader("SANDBOX_OPTION_INVALID");
  reader.object("options", options);
  reader.refuseUnknown("", options, ["name", "policy", "file", "asPid1", "count", "maxAgeMs"]);
  const name = reader.text("name", options.name, maxNameLength);
  return {
    name: /^[A-Za-z0-9-]+$/.test(name) ? name : reader.fail("name", "letters, digits and dashes", name),
    count: reader.integer("count", options.count ?? 1, { least: 1, most: 16 }),
    maxAgeMs: reader.integer("maxAgeMs", options.maxAgeMs ?? 600_000, { least: 1_000, most: 86_400_000 }),
  };
}

/** @throws {ConfinementError} `SANDBOX_OPTION_INVALID` for what is decided before: name, policy and program. */
export function refuseDecided(start: PreparedStart): void {
  const reader = createReader("SANDBOX_OPTION_INVALID");
  reader.object("options", start);
  reader.refuseUnknown("", start, ["args", "env", "cwd", "record", "startTimeoutMs", "graceMs", "signal"]);
}
