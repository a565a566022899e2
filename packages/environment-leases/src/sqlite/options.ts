import { resolve } from "node:path";
import type { FieldFault } from "../errors.js";
import { type Members, readMembers } from "../reading/members.js";
import { refuseFaults } from "../reading/refuse.js";
import { type Scheduler, systemScheduler } from "../scheduler.js";

/** How a store is opened. */
export interface SqliteStoreOptions {
  /** The database file; its folder is made when it is not there. Beside it stand `-wal`, `-shm` and `-lock`. */
  readonly path: string;
  /** How large the file may become: 1 MiB to 1 TiB. Over it, writes reject with `STORE_FAILED`. Default 256 MiB. */
  readonly maxBytes?: number | undefined;
  /** How long a last use may wait until it is written: 1 to 600_000 ms. Default 1_000. */
  readonly touchMs?: number | undefined;
  /** Last uses that may wait before they are written at once: 1 to 100_000. Default 1_024. */
  readonly maxPendingTouches?: number | undefined;
  /** How long a write waits for another program that writes the same file: 0 to 600_000 ms. Default 2_000. */
  readonly busyMs?: number | undefined;
  /** Wall clock, milliseconds since 1970: says since when this process owns the store. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Default: the system's clock and timers. */
  readonly scheduler?: Scheduler | undefined;
}

/** SqliteStoreOptions with defaults filled in, and the path absolute. */
export interface StoreTerms {
  readonly path: string;
  readonly maxBytes: number;
  readonly touchMs: number;
  readonly maxPendingTouches: number;
  readonly busyMs: number;
  readonly now: () => number;
  readonly scheduler: Scheduler;
}

/** PATH_MAX of Linux, in characters. */
const maxPathLength = 4_096;
const mebibyte = 1_048_576;

const ranges = {
  maxBytes: { min: mebibyte, max: mebibyte * mebibyte, preset: 256 * mebibyte },
  touchMs: { min: 1, max: 600_000, preset: 1_000 },
  maxPendingTouches: { min: 1, max: 100_000, preset: 1_024 },
  busyMs: { min: 0, max: 600_000, preset: 2_000 },
} as const;

const optionNames = [
  "path",
  "maxBytes",
  "touchMs",
  "maxPendingTouches",
  "busyMs",
  "now",
  "scheduler",
] as const satisfies readonly (keyof SqliteStoreOptions)[];

/**
 * Reads what a caller passed.
 * @throws {LeaseError} `OPTION_INVALID` with every member at fault.
 */
export function readStoreOptions(options: SqliteStoreOptions): StoreTerms {
  const faults: FieldFault[] = [];
  const given = readMembers(options, "", optionNames, faults);
  const read = (name: keyof typeof ranges): number => given?.whole(name, ranges[name]) ?? ranges[name].preset;
  const terms: StoreTerms = {
    path: readPath(given),
    maxBytes: read("maxBytes"),
    touchMs: read("touchMs"),
    maxPendingTouches: read("maxPendingTouches"),
    busyMs: read("busyMs"),
    now: options.now ?? Date.now,
    scheduler: options.scheduler ?? systemScheduler,
  };
  refuse(faults);
  return terms;
}

/**
 * An absolute path from what a caller passed.
 * @throws {LeaseError} `OPTION_INVALID`
 */
export function readStorePath(path: string): string {
  const faults: FieldFault[] = [];
  const absolute = readPath(readMembers({ path }, "", ["path"], faults));
  refuse(faults);
  return absolute;
}

/** Without NUL: SQLite would end the name there, and open another file. */
function readPath(given: Members | undefined): string {
  if (given?.has("path") === false) given.fault("path", "is missing");
  return resolve(given?.text("path", { max: maxPathLength }) ?? "");
}

function refuse(faults: readonly FieldFault[]): void {
  refuseFaults("OPTION_INVALID", "the options of the lease store cannot be used", faults);
}
