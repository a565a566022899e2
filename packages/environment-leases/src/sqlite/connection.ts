import type { DatabaseSync } from "node:sqlite";
import { LeaseError } from "../errors.js";
import { isBusy, isIoFault, storeFault } from "./failures.js";
import type { StoreTerms } from "./options.js";
import { pause } from "./pause.js";
import { type LeaseTable, leaseTable } from "./statements.js";

/** Calls to an open database, with errors of ours, until it is closed or cannot be trusted any more. */
export interface Connection {
  read<T>(work: (table: LeaseTable) => T): Promise<T>;
  /** On the disk when it resolves. Waits up to `busyMs` for a program that writes the same file. */
  write<T>(doing: string, work: (table: LeaseTable) => T): Promise<T>;
  /** The same at once, whatever becomes of it: false when it was not written. */
  tryWrite(work: (table: LeaseTable) => void): boolean;
  /** False when it cannot be known. */
  tryRead(work: (table: LeaseTable) => boolean): boolean;
  /** Runs `last`, then closes the database. Later calls reject with `STORE_CLOSED`. */
  close(last: () => void): Promise<void>;
}

// Somebody else's write, as of the sqlite3 program, is over within moments.
const busyPauseMs = 10;

/** Owns the database. */
export function createConnection(database: DatabaseSync, terms: StoreTerms): Connection {
  const { path, scheduler, busyMs } = terms;
  const table = leaseTable(database, path);
  let failure: LeaseError | undefined;
  let closing: Promise<void> | undefined;

  const check = (): void => {
    if (closing !== undefined) throw new LeaseError("STORE_CLOSED", `the lease store ${path} is closed`);
    if (failure !== undefined) throw failure;
  };
  const guarded = <T>(doing: string, work: () => T): T => {
    try {
      return work();
    } catch (error) {
      const fault = storeFault(path, doing, error);
      // What the disk holds is not known any more, so nothing may be promised until the file was read anew.
      if (fault instanceof LeaseError && (isIoFault(error) || fault.code === "STORE_DAMAGED")) failure ??= fault;
      throw fault;
    }
  };
  const attempt = <T>(work: () => T): T | undefined => {
    if (failure !== undefined) return undefined;
    try {
      return guarded("writing", work);
    } catch {
      return undefined; // the caller asked for no more than a try; a failure that matters is kept for the next call
    }
  };
  const write: Connection["write"] = async (doing, work) => {
    const giveUpAt = scheduler.now() + busyMs;
    for (;;) {
      check();
      try {
        return guarded(doing, () => inTransaction(database, () => work(table)));
      } catch (error) {
        if (!isContended(error) || scheduler.now() >= giveUpAt) throw error;
      }
      await pause(busyPauseMs);
    }
  };
  const end = async (last: () => void): Promise<void> => {
    last();
    guarded("closing", () => database.close());
  };
  return {
    read: async (work) => {
      check();
      return guarded("reading", () => work(table));
    },
    write,
    tryWrite: (work) => attempt(() => inTransaction(database, () => work(table))) !== undefined,
    tryRead: (work) => closing === undefined && attempt(() => work(table)) === true,
    close: (last) => (closing ??= end(last)),
  };
}

function isContended(error: unknown): boolean {
  return error instanceof LeaseError && isBusy(error.cause);
}

/** All or nothing, on the disk when it returns. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    tryRollback(database);
    throw error;
  }
}

function tryRollback(database: DatabaseSync): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // SQLite has rolled back by itself after a full disk or a failed write.
  }
}
