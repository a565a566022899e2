import { SessionError } from "./errors.js";
import type { SessionLimits } from "./sessions.js";

/** SessionLimits with defaults filled in; the only form that internal code sees. */
export type SessionTerms = { readonly [Name in keyof SessionLimits]-?: number };

interface LimitRange {
  readonly min: number;
  readonly max: number;
  readonly preset: number;
}
const kib = 1_024;
const mib = 1_024 * kib;
const dayMs = 86_400_000;

/** As the docstrings of SessionLimits say. */
const ranges: Readonly<Record<keyof SessionLimits, LimitRange>> = {
  maxSessions: { min: 1, max: 1_024, preset: 5 },
  maxTotalSessions: { min: 1, max: 4_096, preset: 64 },
  maxSessionless: { min: 1, max: 256, preset: 4 },
  maxSessionlessQueued: { min: 0, max: 10_000, preset: 64 },
  warmWorkers: { min: 0, max: 64, preset: 2 },
  maxQueued: { min: 1, max: 1_024, preset: 32 },
  maxCodeBytes: { min: kib, max: 16 * mib, preset: mib },
  maxOutputBytes: { min: kib, max: 64 * mib, preset: mib },
  maxSpillBytes: { min: 0, max: 1_024 * mib, preset: 16 * mib },
  maxDisplayBytes: { min: 0, max: 64 * mib, preset: 8 * mib },
  maxFileBytes: { min: kib, max: 64 * mib, preset: 16 * mib },
  defaultCallMs: { min: 1, max: dayMs, preset: 60_000 },
  maxCallMs: { min: 1, max: dayMs, preset: 600_000 },
  interruptMs: { min: 0, max: 60_000, preset: 2_000 },
  maxOutcomes: { min: 1, max: 10_000, preset: 256 },
  maxOutcomeBytes: { min: kib, max: 1_024 * mib, preset: 64 * mib },
  endedMs: { min: 0, max: dayMs, preset: 600_000 },
  maxEnded: { min: 0, max: 65_536, preset: 256 },
  startMs: { min: 1, max: 600_000, preset: 30_000 },
  maxWarmProfiles: { min: 1, max: 64, preset: 4 },
  warmProfileMs: { min: 1_000, max: dayMs, preset: 600_000 },
  closeMs: { min: 0, max: 600_000, preset: 30_000 },
};

/**
 * Fills in the defaults.
 * @throws {SessionError} `OPTION_INVALID`, for a limit that does not exist too.
 */
export function readSessionTerms(limits: SessionLimits = {}): SessionTerms {
  for (const name of Object.keys(limits)) {
    if (!Object.hasOwn(ranges, name)) throw new SessionError("OPTION_INVALID", `limits.${name} does not exist`);
  }
  const of = (name: keyof SessionLimits): number => readLimit(`limits.${name}`, limits[name], ranges[name]);
  const maxCallMs = of("maxCallMs");
  const maxSessions = of("maxSessions");
  const total = of("maxTotalSessions");
  const maxTotalSessions = limits.maxTotalSessions === undefined ? Math.max(total, maxSessions) : total;
  return {
    maxSessions: Math.min(maxSessions, maxTotalSessions),
    maxTotalSessions,
    maxSessionless: of("maxSessionless"),
    maxSessionlessQueued: of("maxSessionlessQueued"),
    warmWorkers: of("warmWorkers"),
    maxQueued: of("maxQueued"),
    maxCodeBytes: of("maxCodeBytes"),
    maxOutputBytes: of("maxOutputBytes"),
    maxSpillBytes: of("maxSpillBytes"),
    maxDisplayBytes: of("maxDisplayBytes"),
    maxFileBytes: of("maxFileBytes"),
    defaultCallMs: Math.min(of("defaultCallMs"), maxCallMs),
    maxCallMs,
    interruptMs: of("interruptMs"),
    maxOutcomes: of("maxOutcomes"),
    maxOutcomeBytes: of("maxOutcomeBytes"),
    endedMs: of("endedMs"),
    maxEnded: of("maxEnded"),
    startMs: of("startMs"),
    maxWarmProfiles: of("maxWarmProfiles"),
    warmProfileMs: of("warmProfileMs"),
    closeMs: of("closeMs"),
  };
}

/** A whole number within its range. @throws {SessionError} `OPTION_INVALID`. */
function readLimit(name: string, given: number | undefined, { min, max, preset }: LimitRange): number {
  if (given === undefined) return preset;
  if (Number.isInteger(given) && given >= min && given <= max) return given;
  throw new SessionError(
    "OPTION_INVALID",
    `${name} is ${String(given)}; it has to be a whole number from ${min} to ${max}`,
  );
}
