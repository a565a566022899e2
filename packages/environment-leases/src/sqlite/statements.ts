import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { LeaseRecord, LeaseState } from "../lease.js";
import type { LeaseFilter } from "../store.js";
import { ownerKey, readRow, rowColumns, rowValues } from "./row.js";

/** What is asked of the table, in the words of leases. Throws what SQLite throws, and `STORE_DAMAGED`. */
export interface LeaseTable {
  insert(record: LeaseRecord): void;
  replace(record: LeaseRecord): void;
  get(id: string): LeaseRecord | undefined;
  hasWorker(worker: string): boolean;
  /** In order of creation. */
  list(filter: LeaseFilter): readonly LeaseRecord[];
  prune(endedBefore: number): number;
}

/** Statements on an open database, each prepared at its first use and kept. */
export function leaseTable(database: DatabaseSync, path: string): LeaseTable {
  const prepared = new Map<string, ReturnType<DatabaseSync["prepare"]>>();
  const statement = (sql: string): ReturnType<DatabaseSync["prepare"]> => {
    const found = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, found);
    return found;
  };
  return {
    insert: (record) => {
      statement(`INSERT INTO leases (${rowColumns}) VALUES (?, ?, ?, ?, ?, ?, ?)`).run(...rowValues(record));
    },
    replace: (record) => {
      statement(`UPDATE leases SET (${rowColumns}) = (?, ?, ?, ?, ?, ?, ?) WHERE id = ?`).run(
        ...rowValues(record),
        record.id,
      );
    },
    get: (id) => {
      const row = statement(`SELECT ${rowColumns} FROM leases WHERE id = ?`).get(id);
      return row === undefined ? undefined : readRow(row, path);
    },
    hasWorker: (worker) => statement("SELECT 1 FROM leases WHERE worker = ?").get(worker) !== undefined,
    list: (filter) => {
      const { where, values } = condition(filter);
      const rows = statement(`SELECT ${rowColumns} FROM leases WHERE ${where} ORDER BY sequence`).all(...values);
      return rows.map((row) => readRow(row, path));
    },
    prune: (endedBefore) => {
      const { changes } = statement("DELETE FROM leases WHERE ended_at < ?").run(endedBefore);
      return Number(changes);
    },
  };
}

/** At most one statement for each number of states, owner or not. */
function condition({ owner, states }: LeaseFilter): { readonly where: string; readonly values: SQLInputValue[] } {
  const wanted: readonly LeaseState[] | undefined = states && [...new Set(states)];
  const parts = [
    ...(owner === undefined ? [] : ["owner = ?"]),
    ...(wanted === undefined ? [] : [`state IN (${wanted.map(() => "?").join(", ")})`]),
  ];
  const values = [...(owner === undefined ? [] : [ownerKey(owner)]), ...(wanted ?? [])];
  return { where: parts.length === 0 ? "TRUE" : parts.join(" AND "), values };
}
