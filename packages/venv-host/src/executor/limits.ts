import type { JsonBounds } from "./bounded-json.js";
import { PluginHostError } from "./errors.js";
import type { ExecutorLimits } from "./plugin-host.js";

/** ExecutorLimits with defaults filled in. */
export interface ExecutorTerms extends JsonBounds {
  readonly openTimeoutMs: number;
  readonly healthTimeoutMs: number;
  readonly maxBackgroundCalls: number;
  readonly backgroundGraceMs: number;
  readonly recordTimeoutMs: number;
  readonly closeTimeoutMs: number;
}

/** Fills in defaults. @throws {PluginHostError} `OPTION_INVALID` */
export function readExecutorLimits(limits: ExecutorLimits | undefined): ExecutorTerms {
  return {
    maxDepth: readCount("maxDepth", limits?.maxDepth, 128, 8, 512),
    maxValues: readCount("maxValues", limits?.maxValues, 1_000_000, 1_000, 10_000_000),
    maxTextChars: readCount("maxTextChars", limits?.maxTextChars, 16_777_216, 1_024, 134_217_728),
    openTimeoutMs: readCount("openTimeoutMs", limits?.openTimeoutMs, 900_000, 1, 3_600_000),
    healthTimeoutMs: readCount("healthTimeoutMs", limits?.healthTimeoutMs, 5_000, 1, 60_000),
    maxBackgroundCalls: readCount("maxBackgroundCalls", limits?.maxBackgroundCalls, 1_000, 1, 100_000),
    backgroundGraceMs: readCount("backgroundGraceMs", limits?.backgroundGraceMs, 5_000, 0, 600_000),
    recordTimeoutMs: readCount("recordTimeoutMs", limits?.recordTimeoutMs, 30_000, 1, 600_000),
    closeTimeoutMs: readCount("closeTimeoutMs", limits?.closeTimeoutMs, 30_000, 1, 600_000),
  };
}

/** A whole number of a range, or its default. @throws {PluginHostError} `OPTION_INVALID` */
export function readCount(
  name: string,
  value: number | undefined,
  whenAbsent: number,
  least: number,
  most: number,
): number {
  const count = value ?? whenAbsent;
  if (Number.isSafeInteger(count) && count >= least && count <= most) return count;
  throw new PluginHostError("OPTION_INVALID", `${name} is ${String(value)}; it must be ${least} to ${most}`);
}
