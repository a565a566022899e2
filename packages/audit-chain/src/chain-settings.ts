import { basename, resolve } from "node:path";
import { isLogId } from "./begin.js";
import type { ChainOptions, Durability } from "./chain.js";
import { ChainError } from "./errors.js";
import { maxBodyBytes } from "./line.js";
import { type Clocks, isWallTime } from "./time.js";

/** ChainOptions with defaults filled in; the only form that internal code sees. */
export interface ChainSettings {
  readonly directory: string;
  readonly logId: string;
  readonly durability: Durability;
  readonly clocks: Clocks;
  /** When the options were read, RFC 3339 in UTC. */
  readonly since: string;
  readonly maxSegmentBytes: number;
  readonly maxEntryBytes: number;
  readonly maxWaiting: number;
  readonly syncMs: number;
  readonly signal: AbortSignal | undefined;
}

const known: { readonly [Name in keyof ChainOptions]-?: true } = {
  directory: true,
  now: true,
  durability: true,
  monotonic: true,
  logId: true,
  maxSegmentBytes: true,
  maxEntryBytes: true,
  maxWaiting: true,
  syncMs: true,
  signal: true,
};
const kibi = 1_024;

/**
 * Checks what a caller of `openChain` passed.
 * @throws {ChainError} `OPTIONS_INVALID`.
 */
export function readSettings(options: ChainOptions): ChainSettings {
  for (const name of Object.keys(options)) if (!(name in known)) throw invalid(`there is no option ${name}`);
  const { durability = "batch", monotonic } = options;
  if (typeof options.directory !== "string" || options.directory === "") throw invalid("directory is not a path");
  if (typeof options.now !== "function") throw invalid("now is not a function");
  if (durability !== "each" && durability !== "batch" && durability !== "none")
    throw invalid(`durability ${durability}`);
  const directory = resolve(options.directory);
  const logId = options.logId ?? basename(directory);
  if (!isLogId(logId)) throw invalid(`${JSON.stringify(logId)} cannot name a log: give a logId`);
  const nowMs = options.now();
  if (!isWallTime(nowMs)) throw invalid(`now gives ${nowMs}, which is not a time from 1970 to 9999 in milliseconds`);
  return {
    directory,
    logId,
    durability,
    since: new Date(nowMs).toISOString(),
    clocks: monotonic === undefined ? { now: () => options.now() } : { now: () => options.now(), monotonic },
    maxSegmentBytes: whole(options, "maxSegmentBytes", 64 * kibi * kibi, 128 * kibi, kibi * kibi * kibi),
    maxEntryBytes: whole(options, "maxEntryBytes", maxBodyBytes, kibi, maxBodyBytes),
    maxWaiting: whole(options, "maxWaiting", 65_536, 1, 1_000_000),
    syncMs: whole(options, "syncMs", 50, 1, 60_000),
    signal: options.signal,
  };
}

type WholeName = "maxSegmentBytes" | "maxEntryBytes" | "maxWaiting" | "syncMs";

function whole(options: ChainOptions, name: WholeName, standard: number, least: number, most: number): number {
  const value = options[name] ?? standard;
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalid(`${name} is ${value}; it must be a whole number from ${least} to ${most}`);
}

const invalid = (why: string): ChainError => new ChainError("OPTIONS_INVALID", `the options were refused: ${why}`);
