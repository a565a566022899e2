import { LeaseError } from "../errors.js";
import type { LeaseRecord, LeaseState } from "../lease.js";
import type { ManagedProvider } from "../provider.js";
import { createRow, type Row } from "./row.js";
import type { LeasesTerms } from "./terms.js";

/** States of rows that are not terminal. */
export const livingStates: readonly LeaseState[] = ["reserved", "active", "releasing"];

/** Every row that is not terminal: the store has one writer, so what is known here is what there is. */
export interface Rows {
  /** Reads the rows of earlier processes, once. */
  load(): Promise<void>;
  all(): readonly Row[];
  get(id: string): Row | undefined;
  /** The row's own, made if it is not known here. */
  of(record: LeaseRecord): Row;
  /**
   * Takes a place for a new row.
   * @throws {LeaseError} `QUOTA_REACHED`
   */
  add(record: LeaseRecord): Row;
  /** @throws {LeaseError} `QUOTA_REACHED` when the owner may have no further lease. */
  checkOwner(owner: string): void;
  remove(row: Row): void;
}

export function createRows(terms: LeasesTerms, providers: ReadonlyMap<string, ManagedProvider>): Rows {
  const { maxPerOwner, maxTotal } = terms.limits;
  const rows = new Map<string, Row>();
  let loading: Promise<void> | undefined;
  const of = (record: LeaseRecord): Row => {
    const known = rows.get(record.id);
    if (known !== undefined) return known;
    const row = createRow(record, providers.get(record.provider), terms);
    rows.set(record.id, row);
    return row;
  };
  const checkOwner = (owner: string): void => {
    const own = [...rows.values()].filter((row) => row.record.owner === owner || row.claimant === owner);
    const ending = own.filter((row) => row.ending !== undefined || row.record.state === "releasing").length;
    // What ends is no longer the owner's to end; yet whoever leaves workers that resist must not take every place there is.
    if (own.length - ending < maxPerOwner && own.length < 2 * maxPerOwner) return;
    throw new LeaseError("QUOTA_REACHED", `an owner may have ${maxPerOwner} leases at once (maxPerOwner)`, {
      cure: "Release one first.",
    });
  };
  const readAll = async (): Promise<void> => {
    for (const record of await terms.store.list({ states: livingStates })) of(record);
  };
  return {
    load() {
      loading ??= readAll().catch((error: unknown) => {
        loading = undefined;
        throw error;
      });
      return loading;
    },
    all: () => [...rows.values()],
    get: (id) => rows.get(id),
    of,
    add(record) {
      if (record.owner !== undefined) checkOwner(record.owner);
      if (rows.size >= maxTotal) {
        throw new LeaseError("QUOTA_REACHED", `there may be ${maxTotal} leases at once (maxTotal)`, {
          cure: "Try again when others have ended.",
        });
      }
      return of(record);
    },
    checkOwner,
    remove: (row) => void rows.delete(row.id),
  };
}
