import type { DatabaseSync } from "node:sqlite";
import { LeaseError } from "../errors.js";
import { damaged } from "./failures.js";

/** Version of the tables below, in SQLite's `user_version`. */
export const schemaVersion = 1;

/** "Brth" in SQLite's `application_id`: says that a file is a lease store before any table is looked at. */
export const applicationId = 0x42727468;

// `record` is the row as JSON: it alone keeps every string whole (NUL, lone surrogates), which TEXT does not. The other
// columns repeat what is searched for, and `checksum` covers all of them, since SQLite has no checksums of its own.
const statements = [
  `CREATE TABLE leases (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  worker TEXT NOT NULL UNIQUE,
  owner TEXT,
  state TEXT NOT NULL,
  ended_at INTEGER,
  record TEXT NOT NULL,
  checksum TEXT NOT NULL
) STRICT`,
  "CREATE INDEX leases_by_state ON leases (state, ended_at)",
  "CREATE INDEX leases_by_owner ON leases (owner, state)",
  "CREATE TABLE writer (one INTEGER PRIMARY KEY CHECK (one = 1), owner TEXT NOT NULL) STRICT",
] as const;

/** Makes the tables in a new file. */
export function createSchema(database: DatabaseSync): void {
  database.exec("BEGIN IMMEDIATE");
  for (const statement of statements) database.exec(statement);
  database.exec(`PRAGMA application_id = ${applicationId}`);
  database.exec(`PRAGMA user_version = ${schemaVersion}`);
  database.exec("COMMIT");
}

/**
 * Refuses a file that is not a lease store of this version.
 * @throws {LeaseError} `STORE_VERSION_UNKNOWN`, `STORE_DAMAGED`
 */
export function checkSchema(database: DatabaseSync, path: string): void {
  const application = readPragma(database, "application_id");
  const version = readPragma(database, "user_version");
  if (application !== applicationId) {
    throw unknownVersion(path, "it is a database of something else", "name another file");
  }
  if (version !== schemaVersion) {
    const cure = "use the version of @berth/environment-leases that wrote it";
    throw unknownVersion(path, `its schema has version ${version}, and this program knows ${schemaVersion}`, cure);
  }
  // Word by word: a trigger or a view that somebody added would change what a write means.
  const found = database.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").all();
  const tables = found.map(({ sql }) => String(sql)).filter((sql) => !sql.startsWith("CREATE TABLE sqlite_"));
  const expected: readonly string[] = statements;
  if (tables.length !== expected.length || tables.some((sql) => !expected.includes(sql))) {
    throw damaged(path, `its tables are not those of version ${schemaVersion}`);
  }
}

/** Reads the whole file: pages, indexes, constraints. */
export function checkIntegrity(database: DatabaseSync, path: string): void {
  const result = database.prepare("PRAGMA integrity_check(1)").get();
  const text = String(result?.["integrity_check"]);
  if (text !== "ok") throw damaged(path, text.slice(0, 300));
}

/** The value of a pragma that answers one. */
export function readPragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

function unknownVersion(path: string, why: string, cure: string): LeaseError {
  return new LeaseError("STORE_VERSION_UNKNOWN", `the lease store ${path} is not read: ${why}`, { cure });
}
