import { closeSync, fsyncSync, lstatSync, mkdirSync, openSync, renameSync, rmSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { LeaseError } from "../errors.js";
import { damaged } from "./failures.js";
import type { Sqlite } from "./load.js";
import { createSchema } from "./schema.js";

// SQLite's smallest page, and so its smallest file. A shorter one was cut: a new store gets its name when it is whole.
const smallestFile = 512;

const hasModes = process.platform !== "win32";

/** Makes the folder of a store, for its owner only; refuses one that others may use. */
export function prepareFolder(path: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  refuseOthers(folder, lstatSync(folder), "folder", 0o700);
}

/**
 * What is at the path of a store. Only looks: a descriptor of ours that is closed would take the locks with it that
 * SQLite holds on the same file in this process (fcntl(2)).
 * @throws {LeaseError} `STORE_DAMAGED`, `STORE_FAILED`
 */
export function findStore(path: string): "present" | "absent" {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) {
    if (!hasLogFile(path)) return "absent";
    throw damaged(path, "its write-ahead log is there, and the file that it belongs to is not");
  }
  if (!stats.isFile() || stats.nlink !== 1) {
    throw new LeaseError("STORE_FAILED", `the lease store ${path} is no regular file with one name`, {
      cure: "name the file itself, not a link to it",
    });
  }
  if (stats.size < smallestFile) throw damaged(path, `it has ${stats.size} bytes, less than any store`);
  return "present";
}

/** Refuses a file that others may read or write. */
export function checkMode(path: string): void {
  refuseOthers(path, lstatSync(path), "file", 0o600);
}

/** Whether a write-ahead log stands beside the store. */
export function hasLogFile(path: string): boolean {
  return lstatSync(`${path}-wal`, { throwIfNoEntry: false }) !== undefined;
}

/** Makes an empty store beside its name and gives it the name when it is on the disk. Only under the store's lock. */
export function createStore({ DatabaseSync }: Sqlite, path: string): void {
  const draft = `${path}-new`;
  removeDraft(draft);
  closeSync(openSync(draft, "wx", 0o600));
  const database: DatabaseSync = new DatabaseSync(draft);
  try {
    database.exec("PRAGMA journal_mode = WAL");
    database.exec("PRAGMA synchronous = FULL");
    createSchema(database);
  } finally {
    database.close(); // the last connection moves the log into the file and removes it
  }
  sync(draft);
  renameSync(draft, path);
  sync(dirname(path));
}

/** What a process that died while it made a store has left. */
function removeDraft(draft: string): void {
  for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(`${draft}${suffix}`, { force: true });
}

function sync(path: string): void {
  if (!hasModes) return; // Windows opens no folders
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function refuseOthers(path: string, stats: Stats, what: string, mode: number): void {
  if (!hasModes || (stats.mode & 0o077) === 0) return;
  const found = (stats.mode & 0o777).toString(8).padStart(4, "0");
  throw new LeaseError("STORE_FAILED", `the ${what} ${path} of the lease store has mode ${found}, open to others`, {
    cure: `chmod ${mode.toString(8)} ${path}`,
  });
}
