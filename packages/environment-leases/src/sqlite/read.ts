import { lstatSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { LeaseError } from "../errors.js";
import type { LeaseRecord } from "../lease.js";
import { isBusy, storeFault } from "./failures.js";
import { findStore, hasLogFile } from "./files.js";
import { loadSqlite, type Sqlite } from "./load.js";
import { readStorePath } from "./options.js";
import type { StoreOwner } from "./owner.js";
import { pause } from "./pause.js";
import { checkSchema } from "./schema.js";
import { leaseTable } from "./statements.js";
import { checkWal } from "./wal-check.js";
import { readWriter } from "./writer.js";

/** What stands in a store at one moment. */
export interface SqliteLeases {
  /** In order of creation. Last uses of the last second may be missing. */
  readonly leases: readonly LeaseRecord[];
  /** Who opened it last and did not close it. It may be dead: the store is locked only while it lives. */
  readonly owner: StoreOwner | undefined;
}

// A writer that comes or goes is in the way for moments.
const pauseMs = 20;
const usualAttempts = 100;

/**
 * Reads a lease store while a writer lives or not, without its lock and without writing anything; undefined when there
 * is none. A store whose writer was killed is read with what its log holds, and left as it is for the next writer.
 *
 * @throws {LeaseError} `SQLITE_UNAVAILABLE`, `OPTION_INVALID`, `STORE_DAMAGED`, `STORE_VERSION_UNKNOWN`, `STORE_FAILED`.
 *   Rejects with the signal's reason.
 */
export async function readSqliteLeases(
  path: string,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<SqliteLeases | undefined> {
  return readStore(loadSqlite(), readStorePath(path), usualAttempts, signal);
}

/** For the words of a message: undefined when nobody is named, or when it cannot be read. */
export async function tryReadOwner(sqlite: Sqlite, path: string): Promise<StoreOwner | undefined> {
  try {
    return (await readStore(sqlite, path, 5))?.owner;
  } catch {
    return undefined; // what is wrong with the file is told to whoever gets its lock
  }
}

async function readStore(
  sqlite: Sqlite,
  path: string,
  attempts: number,
  signal?: AbortSignal,
): Promise<SqliteLeases | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    const found = tryReadOnce(sqlite, path, attempt === attempts);
    if (found !== "changing") return found;
    await pause(pauseMs, signal);
  }
}

function tryReadOnce(sqlite: Sqlite, path: string, isLast: boolean): SqliteLeases | undefined | "changing" {
  const before = stateOf(path);
  const isUnchanged = (): boolean => before === stateOf(path);
  try {
    if (findStore(path) === "absent") return undefined;
    checkWal(path);
    const isAlone = !hasLogFile(path);
    const found = readAll(sqlite, path, isAlone);
    // Without a log it was read as a file that nobody changes, so it must not have changed.
    if (!isAlone || isUnchanged()) return found;
    if (!isLast) return "changing";
    throw new LeaseError("STORE_FAILED", `the lease store ${path} changed each time that it was read`);
  } catch (error) {
    if (!isLast && (isBusy(error) || !isUnchanged())) return "changing";
    throw storeFault(path, "reading", error);
  }
}

function readAll({ DatabaseSync }: Sqlite, path: string, isAlone: boolean): SqliteLeases {
  // `immutable` takes no locks and makes no files, which SQLite would do beside any file in WAL mode. With a log, the
  // files are there already: the writer's, or what it left when it was killed.
  const location = isAlone ? `${pathToFileURL(path).href}?immutable=1` : path;
  const database = new DatabaseSync(location, { readOnly: true });
  try {
    database.exec("PRAGMA busy_timeout = 0");
    database.exec("BEGIN");
    checkSchema(database, path);
    return { leases: leaseTable(database, path).list({}), owner: readWriter(database) };
  } finally {
    database.close();
  }
}

/** What changes when a writer comes, goes, or moves its log into the file. */
function stateOf(path: string): string {
  const file = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return file === undefined ? "" : [file.ino, file.size, file.mtimeNs, hasLogFile(path)].join(" ");
}
