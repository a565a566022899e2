import { resolve } from "node:path";
import { type FieldFault, LeaseError } from "../errors.js";
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

const mebibyte = 1_048_576;

const ranges = {
  maxBytes: { least: mebibyte, most: mebibyte * mebibyte, usual: 256 * mebibyte },
  touchMs: { least: 1, most: 600_000, usual: 1_000 },
  maxPendingTouches: { least: 1, most: 100_000, usual: 1_024 },
  busyMs: { least: 0, most: 600_000, usual: 2_000 },
} as const;

const otherNames: readonly string[] = ["path", "now", "scheduler"];

/**
 * Reads what a caller passed.
 * @throws {LeaseError} `OPTION_INVALID` with every member at fault.
 */
export function readStoreOptions(options: SqliteStoreOptions): StoreTerms {
  const faults: FieldFault[] = [...faultsOfNames(options), ...faultsOfPath(options.path)];
  const read = (name: keyof typeof ranges): number => {
    const { least, most, usual } = ranges[name];
    const value = options[name] ?? usual;
    if (!Number.isSafeInteger(value) || value < least || value > most) {
      faults.push({ field: name, fault: `must be a whole number from ${least} to ${most}, was ${String(value)}` });
    }
    return value;
  };
  const terms: StoreTerms = {
    path: typeof options.path === "string" ? resolve(options.path) : "",
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
  refuse(faultsOfPath(path));
  return resolve(path);
}

function faultsOfNames(options: object): readonly FieldFault[] {
  const unknown = Object.keys(options).filter((name) => !(name in ranges) && !otherNames.includes(name));
  return unknown.map((name) => ({ field: name, fault: "is not an option of a store" }));
}

function faultsOfPath(path: unknown): readonly FieldFault[] {
  // SQLite would end the name at a NUL, and open another file.
  if (typeof path === "string" && path !== "" && !path.includes("\0")) return [];
  return [{ field: "path", fault: "must be the name of a file, without NUL" }];
}

function refuse(faults: readonly FieldFault[]): void {
  if (faults.length === 0) return;
  const list = faults.map(({ field, fault }) => `${field} ${fault}`).join("; ");
  throw new LeaseError("OPTION_INVALID", `options of the lease store: ${list}`, { faults });
}
