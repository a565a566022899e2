import { closeSync, openSync } from "node:fs";
import { isBusy } from "./failures.js";
import type { Sqlite } from "./load.js";

/** The lock of a store, held until it is released or the process is gone. */
export interface StoreLock {
  release(): void;
}

/**
 * Takes the lock beside a store; undefined when somebody has it. It is SQLite's own write lock (fcntl(2)) on a file that
 * stays empty: the transaction is never committed and its journal is kept in memory, so nothing is ever written that a
 * crash could tear. The kernel frees it with the process, however that ends, and children do not inherit it. The file
 * is never removed: whoever waits for it could get a lock on a file that has no name any more.
 */
export function tryTakeLock({ DatabaseSync }: Sqlite, path: string): StoreLock | undefined {
  const lockPath = `${path}-lock`;
  createIfAbsent(lockPath);
  const database = new DatabaseSync(lockPath);
  try {
    database.exec("PRAGMA busy_timeout = 0");
    database.exec("PRAGMA journal_mode = MEMORY");
    database.exec("BEGIN IMMEDIATE");
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  // Closing rolls back. The connection is referred to here, so that the collector does not close it before.
  return { release: () => database.close() };
}

function createIfAbsent(path: string): void {
  try {
    // Only a file that is new is opened here: closing it would free the locks of this process on an old one.
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}
