import type { DatabaseSync } from "node:sqlite";
import { LeaseError } from "../errors.js";
import { changeRecord, dueReason, type LeaseRecord } from "../lease.js";
import type { LeaseStore } from "../store.js";
import { createConnection } from "./connection.js";
import type { StoreLock } from "./lock.js";
import type { StoreTerms } from "./options.js";
import type { LeaseTable } from "./statements.js";
import { createTouches } from "./touches.js";
import { forgetWriter } from "./writer.js";

/** The store over a checked database and its lock. Owns both. */
export function leaseStore(database: DatabaseSync, lock: StoreLock, terms: StoreTerms): LeaseStore {
  const connection = createConnection(database, terms);
  const touches = createTouches(connection, terms);
  const close = async (): Promise<void> => {
    try {
      await connection.close(() => {
        touches.flush();
        connection.tryWrite(() => forgetWriter(database));
      });
    } finally {
      lock.release();
    }
  };
  let closing: Promise<void> | undefined;
  return {
    insert: (record) => connection.write("adding a lease", (table) => insertRow(table, record)),
    update: (id, generation, change) =>
      connection.write("changing a lease", (table) => {
        const record = table.get(id);
        if (record === undefined) throw new LeaseError("LEASE_NOT_FOUND", `there is no lease ${id}`);
        const next = changeRecord(touches.over(record), generation, change);
        table.replace(next);
        touches.drop(id);
        return next;
      }),
    touch: (id, lastUsedAt) => touches.add(id, lastUsedAt),
    get: (id) =>
      connection.read((table) => {
        const record = table.get(id);
        return record === undefined ? undefined : touches.over(record);
      }),
    list: (filter = {}) => connection.read((table) => table.list(filter).map(touches.over)),
    listDue: (now) =>
      connection.read((table) => {
        const living = table.list({ states: ["reserved", "active", "releasing"] });
        return living.map(touches.over).filter((row) => row.state === "releasing" || dueReason(row, now) !== undefined);
      }),
    prune: (endedBefore) => connection.write("removing old leases", (table) => table.prune(endedBefore)),
    close: () => (closing ??= close()),
  };
}

function insertRow(table: LeaseTable, record: LeaseRecord): void {
  if (table.get(record.id) !== undefined) throw new Error(`lease ${record.id} exists`);
  if (table.hasWorker(record.worker)) throw new Error(`worker ${record.worker} has a lease`);
  table.insert({ ...record, generation: 1 });
}
