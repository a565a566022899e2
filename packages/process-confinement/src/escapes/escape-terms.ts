import { existsSync } from "node:fs";
import { ConfinementError } from "../errors.js";
import { createReader, type Range, type ValueReader } from "../reading/read-values.js";
import { type AttemptPlan, attemptPlans } from "./attempt-list.js";
import type { EscapeLimits, EscapeOptions, EscapeResult, EscapeWrap } from "./escapes.js";
import { noInterpreter } from "./victim.js";

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
/** The most is what this machine is asked to bear unwrapped, in the control. */
const ranges: { readonly [Name in keyof EscapeLimits]: Range & { readonly usual: number } } = {
  memoryBytes: { least: 32 * mib, most: 1024 * mib, usual: 64 * mib },
  processes: { least: 8, most: 512, usual: 48 },
  tmpBytes: { least: mib, most: 256 * mib, usual: 8 * mib },
  diskBytes: { least: mib, most: 256 * mib, usual: 16 * mib },
  outputBytes: { least: mib / 16, most: 64 * mib, usual: mib },
};
const timeoutRange = { least: 1_000, most: 600_000 };
const usualTimeoutMs = 30_000;

/** @throws {ConfinementError} `SANDBOX_OPTION_INVALID`, `INTERPRETER_NOT_FOUND`, `PLATFORM_UNSUPPORTED`. */
export function readEscapeOptions(options: EscapeOptions): EscapeTerms {
  if (process.platform !== "linux")
    throw new ConfinementError("PLATFORM_UNSUPPORTED", `the attempts are for Linux, not ${process.platform}`);
  const reader = createReader("SANDBOX_OPTION_INVALID");
  reader.refuseUnknown("", reader.object("options", options), optionNames);
  const limits = options.limits ?? {};
  reader.refuseUnknown("limits", reader.object("limits", limits), Object.keys(ranges));
  const limit = (name: keyof EscapeLimits): number =>
    reader.integer(`limits.${name}`, limits[name] ?? ranges[name].usual, ranges[name]);
  return {
    wrap: reader.callback("wrap", options.wrap ?? reader.fail("wrap", "a function", undefined)),
    plans: readPlans(reader, options.attempts),
    python: readPython(reader.path("python", options.python ?? "/usr/bin/python3")),
    limits: {
      memoryBytes: limit("memoryBytes"),
      processes: limit("processes"),
      tmpBytes: limit("tmpBytes"),
      diskBytes: limit("diskBytes"),
      outputBytes: limit("outputBytes"),
    },
    attemptTimeoutMs: reader.integer("attemptTimeoutMs", options.attemptTimeoutMs ?? usualTimeoutMs, timeoutRange),
    onResult: reader.callback("onResult", options.onResult) ?? (() => {}),
    signal: options.signal,
  };
}

/** Of one wait from now on. */
export function boundOf({ attemptTimeoutMs, signal }: EscapeTerms): AbortSignal {
  return AbortSignal.any([AbortSignal.timeout(attemptTimeoutMs), ...(signal ? [signal] : [])]);
}

function readPlans(reader: ValueReader, ids: readonly string[] | undefined): readonly AttemptPlan[] {
  if (ids === undefined) return attemptPlans;
  const isKnown = (id: unknown): boolean => attemptPlans.some((plan) => plan.id === id);
  if (!Array.isArray(ids) || !ids.every(isKnown))
    return reader.fail("attempts", "an array of ids of escapeAttempts", ids);
  return attemptPlans.filter(({ id }) => ids.includes(id));
}

function readPython(path: string): string {
  if (existsSync(path)) return path;
  throw noInterpreter(`there is no ${path}`);
}
