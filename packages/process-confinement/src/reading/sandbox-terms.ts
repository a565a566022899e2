import type { StartDuties } from "../plan/start-script.js";
import type { SandboxOptions } from "../sandbox.js";
import type { PolicyTerms } from "./policy-terms.js";

/** SandboxOptions with defaults filled in; the only form that internal code sees. */
export interface SandboxTerms {
  readonly name: string;
  readonly policy: PolicyTerms;
  readonly file: string;
  readonly args: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  readonly cwd: string;
  readonly handshake: StartDuties["handshake"];
  readonly asPid1: boolean;
  readonly record: SandboxOptions["record"];
  readonly startTimeoutMs: number;
  readonly graceMs: number;
  readonly signal: AbortSignal | undefined;
}
