import { type Bounds, type LimitRanges, limitReader } from "../limit-reader.js";
import { optionFault } from "./errors.js";

/** What bounds the checking of JWTs. */
export interface JwtLimits {
  /** Largest set of keys, in bytes: 1_024 to 16_777_216. Default 256 KiB. */
  readonly maxKeySetBytes?: number | undefined;
  /** 1 to 10_000. Default 100. */
  readonly maxKeys?: number | undefined;
  /** How long a fetch of keys may take, in milliseconds: 10 to 60_000. Default 5_000. Above: 503. */
  readonly fetchMs?: number | undefined;
  /** How long fetched keys are taken for the newest, in milliseconds: 1_000 to 86_400_000. Default 10 minutes. */
  readonly cacheMs?: number | undefined;
  /** How long after a fetch keys are not fetched again, whatever tokens come, in milliseconds: 1_000 to 3_600_000. Default 30_000. */
  readonly coolDownMs?: number | undefined;
  /** How long after a fetch that failed no other is tried, in milliseconds: 1_000 to 3_600_000. Default 5_000. */
  readonly retryMs?: number | undefined;
  /** How long after `cacheMs` known keys still count while no newer ones can be fetched, in milliseconds: 0 to 86_400_000. Default 1 hour. Above: 503. */
  readonly staleMs?: number | undefined;
  /** What the issuer's clock and ours may differ, in milliseconds: 0 to 300_000, in whole seconds. Default 30_000. */
  readonly clockToleranceMs?: number | undefined;
}
/** With defaults filled in. */
export type JwtBounds = Bounds<JwtLimits>;

const ranges = {
  maxKeySetBytes: { min: 1_024, max: 16_777_216, preset: 262_144 },
  maxKeys: { min: 1, max: 10_000, preset: 100 },
  fetchMs: { min: 10, max: 60_000, preset: 5_000 },
  cacheMs: { min: 1_000, max: 86_400_000, preset: 600_000 },
  coolDownMs: { min: 1_000, max: 3_600_000, preset: 30_000 },
  retryMs: { min: 1_000, max: 3_600_000, preset: 5_000 },
  staleMs: { min: 0, max: 86_400_000, preset: 3_600_000 },
  clockToleranceMs: { min: 0, max: 300_000, preset: 30_000 },
} as const satisfies LimitRanges<JwtLimits>;

/** @throws {AuthError} `AUTH_OPTIONS_INVALID`. */
export function readJwtBounds(limits: JwtLimits | undefined): JwtBounds {
  const read = limitReader(limits, ranges, optionFault);
  return {
    maxKeySetBytes: read("maxKeySetBytes"),
    maxKeys: read("maxKeys"),
    fetchMs: read("fetchMs"),
    cacheMs: read("cacheMs"),
    coolDownMs: read("coolDownMs"),
    retryMs: read("retryMs"),
    staleMs: read("staleMs"),
    clockToleranceMs: read("clockToleranceMs"),
  };
}
