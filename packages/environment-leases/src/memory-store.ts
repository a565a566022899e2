import { LeaseError } from "./errors.js";
import { changeRecord, dueReason, isTerminal, type LeaseRecord } from "./lease.js";
import type { LeaseFilter, LeaseStore } from "./store.js";

/** Leases in this process's memory: for tests, and for hosts whose workers cannot outlive them. */
export function createMemoryLeaseStore(): LeaseStore {
  const rows = new Map<string, LeaseRecord>();
  const workers = new Set<string>();
  let isClosed = false;
  const whenOpen = async <T>(work: () => T): Promise<T> => {
    if (isClosed) throw new LeaseError("STORE_CLOSED", "the store is closed");
    return work();
  };
  const select = (fits: (row: LeaseRecord) => boolean): readonly LeaseRecord[] => [...rows.values()].filter(fits);
  return {
    insert: (record) =>
      whenOpen(() => {
        if (rows.has(record.id)) throw new Error(`lease ${record.id} exists`);
        if (workers.has(record.worker)) throw new Error(`worker ${record.worker} has a lease`);
        rows.set(record.id, Object.freeze({ ...record, generation: 1, labels: Object.freeze({ ...record.labels }) }));
        workers.add(record.worker);
      }),
    update: (id, generation, change) =>
      whenOpen(() => {
        const record = rows.get(id);
        if (record === undefined) throw new LeaseError("LEASE_NOT_FOUND", `there is no lease ${id}`);
        const next = changeRecord(record, generation, change);
        rows.set(id, next);
        return next;
      }),
    touch(id, lastUsedAt) {
      const record = rows.get(id);
      if (isClosed || record === undefined || isTerminal(record.state)) return;
      rows.set(id, Object.freeze({ ...record, lastUsedAt }));
    },
    get: (id) => whenOpen(() => rows.get(id)),
    list: (filter = {}) => whenOpen(() => select((row) => fitsFilter(row, filter))),
    listDue: (now) => whenOpen(() => select((row) => row.state === "releasing" || dueReason(row, now) !== undefined)),
    prune: (endedBefore) =>
      whenOpen(() => {
        const old = select((row) => row.endedAt !== undefined && row.endedAt < endedBefore);
        for (const { id, worker } of old) {
          rows.delete(id);
          workers.delete(worker);
        }
        return old.length;
      }),
    async close() {
      isClosed = true;
    },
  };
}

function fitsFilter(row: LeaseRecord, { owner, states }: LeaseFilter): boolean {
  return (owner === undefined || row.owner === owner) && (states === undefined || states.includes(row.state));
}
