import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { ConfinementError } from "../errors.js";
import { type AttemptPlan, attemptPlans } from "./attempt-list.js";
import type { EscapeLimits, EscapeOptions, EscapeResult, EscapeWrap } from "./escapes.js";

/** EscapeOptions with defaults filled in; the only form that internal code sees. */
export interface EscapeTerms {
  readonly wrap: EscapeWrap;
  readonly plans: readonly AttemptPlan[];
  readonly python: string;
  readonly limits: EscapeLimits;
  readonly attemptTimeoutMs: number;
  readonly onResult: (result: EscapeResult) => void;
  readonly signal: AbortSignal | undefined;
}

const mib = 2 ** 20;
const optionNames = ["wrap", "attempts", "python", "limits", "attemptTimeoutMs", "onResult", "signal"];
/** Least, most, default. The most is what this machine is asked to bear unwrapped, in the control. */
const ranges: { readonly [Name in keyof EscapeLimits]: readonly [number, number, number] } = {
  memoryBytes: [32 * mib, 1024 * mib, 64 * mib],
  processes: [8, 512, 48],
  tmpBytes: [mib, 256 * mib, 8 * mib],
  diskBytes: [mib, 256 * mib, 16 * mib],
  outputBytes: [mib / 16, 64 * mib, mib],
};

/** @throws {ConfinementError} `SANDBOX_OPTION_INVALID`, `INTERPRETER_NOT_FOUND`, `PLATFORM_UNSUPPORTED`. */
export function readEscapeOptions(options: EscapeOptions): EscapeTerms {
  if (process.platform !== "linux")
    throw new ConfinementError("PLATFORM_UNSUPPORTED", `the attempts are for Linux, not ${process.platform}`);
  refuseUnknown("", options, optionNames);
  const limits = options.limits ?? {};
  refuseUnknown("limits.", limits, Object.keys(ranges));
  return {
    wrap: options.wrap,
    plans: readPlans(options.attempts),
    python: readPython(options.python ?? "/usr/bin/python3"),
    limits: {
      memoryBytes: readLimit("memoryBytes", limits),
      processes: readLimit("processes", limits),
      tmpBytes: readLimit("tmpBytes", limits),
      diskBytes: readLimit("diskBytes", limits),
      outputBytes: readLimit("outputBytes", limits),
    },
    attemptTimeoutMs: readNumber("attemptTimeoutMs", options.attemptTimeoutMs, [1_000, 600_000, 30_000]),
    onResult: options.onResult ?? (() => {}),
    signal: options.signal,
  };
}

function readPlans(ids: readonly string[] | undefined): readonly AttemptPlan[] {
  const unknown = ids?.find((id) => !attemptPlans.some((plan) => plan.id === id));
  if (unknown !== undefined) throw invalid("attempts", `no attempt "${unknown}"`);
  return ids === undefined ? attemptPlans : attemptPlans.filter(({ id }) => ids.includes(id));
}

function readPython(path: string): string {
  if (!isAbsolute(path)) throw invalid("python", "python must be an absolute path");
  if (existsSync(path)) return path;
  const cure = "install python3, or name an interpreter by the option python";
  throw new ConfinementError("INTERPRETER_NOT_FOUND", `there is no ${path}`, { field: "python", cure });
}

function readLimit(name: keyof EscapeLimits, limits: Partial<EscapeLimits>): number {
  return readNumber(`limits.${name}`, limits[name], ranges[name]);
}

function readNumber(
  field: string,
  value: number | undefined,
  [least, most, otherwise]: readonly [number, number, number],
): number {
  const number = value ?? otherwise;
  if (Number.isInteger(number) && number >= least && number <= most) return number;
  throw invalid(field, `${field} must be an integer from ${least} to ${most}, not ${number}`);
}

function refuseUnknown(prefix: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw invalid(`${prefix}${unknown}`, `unknown option "${unknown}"; known: ${known.join(", ")}`);
}

function invalid(field: string, message: string): ConfinementError {
  return new ConfinementError("SANDBOX_OPTION_INVALID", message, { field });
}
