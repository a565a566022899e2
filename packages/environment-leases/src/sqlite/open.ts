import type { DatabaseSync } from "node:sqlite";
import { LeaseError } from "../errors.js";
import type { LeaseStore } from "../store.js";
import { inTransaction } from "./connection.js";
import { damaged, storeFault } from "./failures.js";
import { checkMode, createStore, findStore, prepareFolder } from "./files.js";
import { leaseStore } from "./lease-store.js";
import { loadSqlite, type Sqlite } from "./load.js";
import { type StoreLock, tryTakeLock } from "./lock.js";
import { readStoreOptions, type SqliteStoreOptions, type StoreTerms } from "./options.js";
import { describeOwner, ownIdentity } from "./owner.js";
import { tryReadOwner } from "./read.js";
import { checkIntegrity, checkSchema, readPragma } from "./schema.js";
import { leaseTable } from "./statements.js";
import { checkWal } from "./wal-check.js";
import { nameWriter } from "./writer.js";

/**
 * Opens the lease store in a file, as its one writer, and makes it when it is not there: folder 0700, file 0600. The
 * whole file is checked first: its pages, its write-ahead log, the checksum of each row. What a resolved call wrote is on
 * stable storage (WAL, `synchronous = FULL`). A write that rejects with `STORE_FAILED` may stand in the file after a crash.
 *
 * @throws {LeaseError} `SQLITE_UNAVAILABLE`; `OPTION_INVALID`; `STORE_LOCKED`, naming who writes it; `STORE_DAMAGED`;
 *   `STORE_VERSION_UNKNOWN`; `STORE_FAILED` for the system's errors, and for a folder or a file that is open to others.
 */
export async function openSqliteLeaseStore(options: SqliteStoreOptions): Promise<LeaseStore> {
  const terms = readStoreOptions(options);
  const sqlite = loadSqlite();
  const { path } = terms;
  let lock: StoreLock | undefined;
  try {
    prepareFolder(path);
    lock = tryTakeLock(sqlite, path);
    if (lock === undefined) throw await locked(sqlite, path);
    return leaseStore(openChecked(sqlite, terms), lock, terms);
  } catch (error) {
    lock?.release();
    throw storeFault(path, "opening", error);
  }
}

/** The database, whole and named as ours. Only under the store's lock. */
function openChecked(sqlite: Sqlite, terms: StoreTerms): DatabaseSync {
  const { path } = terms;
  if (findStore(path) === "absent") createStore(sqlite, path);
  checkMode(path);
  checkWal(path);
  const database = new sqlite.DatabaseSync(path);
  try {
    database.exec("PRAGMA busy_timeout = 0"); // SQLite's own waiting would hold up the event loop
    checkSchema(database, path);
    checkIntegrity(database, path);
    leaseTable(database, path).list({}); // each row against its checksum
    setDurability(database, terms);
    inTransaction(database, () => nameWriter(database, ownIdentity(terms.now())));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function setDurability(database: DatabaseSync, { path, maxBytes }: StoreTerms): void {
  if (readPragma(database, "journal_mode = WAL") !== "wal") throw damaged(path, "it cannot be switched to WAL");
  database.exec("PRAGMA synchronous = FULL");
  // macOS syncs no further than to the drive's cache unless it is asked.
  database.exec("PRAGMA fullfsync = ON");
  database.exec("PRAGMA checkpoint_fullfsync = ON");
  const pageBytes = Number(readPragma(database, "page_size"));
  database.exec(`PRAGMA max_page_count = ${Math.floor(maxBytes / pageBytes)}`);
}

async function locked(sqlite: Sqlite, path: string): Promise<LeaseError> {
  const owner = await tryReadOwner(sqlite, path);
  return new LeaseError("STORE_LOCKED", `the lease store ${path} is written ${describeOwner(owner)}`, {
    cure: "ask that process, or end it first",
  });
}
