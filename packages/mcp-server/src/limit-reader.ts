import { describeFault, describeUnknown } from "./option-check.js";

type LimitFault = "unknown" | "out-of-range";

/** What one limit may be, and what it is when the caller names none. */
interface LimitRange {
  readonly min: number;
  readonly max: number;
  readonly preset: number;
}

/** The ranges of limits that are members of one option. */
export type LimitRanges<Limits> = Readonly<Record<keyof Limits, LimitRange>>;

/** Limits with defaults filled in; the only form that internal code sees. */
export type Bounds<Limits> = { readonly [Name in keyof Limits]-?: number };

/**
 * Reads a caller's limits, one at a time, with defaults. A fault is told as a text that names the limit, its value and its range, or one
 * that does not exist; where `fault` does not throw, the default stands in.
 * @throws {RangeError} for a limit out of its range, {TypeError} for one that does not exist, unless `fault` is given.
 */
export function limitReader<Limits extends { readonly [Name in keyof Limits]?: number | undefined }>(
  limits: Limits | undefined,
  ranges: LimitRanges<Limits>,
  fault: (message: string, kind: LimitFault) => void = refuse,
): (name: keyof Limits & string) => number {
  for (const name of Object.keys(limits ?? {})) {
    if (!Object.hasOwn(ranges, name)) fault(describeUnknown("limit", name, Object.keys(ranges)), "unknown");
  }
  return (name) => {
    const { min, max, preset } = ranges[name];
    const value = limits?.[name] ?? preset;
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    fault(describeFault(name, value, `a whole number from ${min} to ${max}`), "out-of-range");
    return preset;
  };
}

function refuse(message: string, kind: LimitFault): never {
  throw kind === "unknown" ? new TypeError(message) : new RangeError(message);
}
