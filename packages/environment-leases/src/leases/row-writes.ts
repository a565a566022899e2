import { isLeaseError, LeaseError } from "../errors.js";
import type { LeaseRecord } from "../lease.js";
import type { LeaseChange, LeaseStore } from "../store.js";

/** The one way by which this process writes a row. */
export interface RowWrites {
  /** As it was at the last write. */
  readonly record: LeaseRecord;
  /** It is known that the store has no such row. */
  readonly isAbsent: boolean;
  /** The first write. */
  insert(): Promise<void>;
  /**
   * One write after the other. `decide` sees the row as it is and gives what to change, or undefined for nothing.
   * @throws {LeaseError} of the store; with `STORE_FAILED` it is not known whether the row was written: the next write reads
   * it again first.
   */
  write(decide: (record: LeaseRecord) => LeaseChange | undefined): Promise<LeaseRecord>;
}

export function createRowWrites(first: LeaseRecord, store: LeaseStore): RowWrites {
  let record = first;
  let isUncertain = false;
  let isAbsent = false;
  let lastWrite: Promise<unknown> = Promise.resolve();
  const readAgain = async (): Promise<void> => {
    const found = await store.get(record.id);
    isAbsent = found === undefined;
    isUncertain = false;
    if (found === undefined) throw new LeaseError("LEASE_NOT_FOUND", `there is no lease ${record.id}`);
    record = found;
  };
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = lastWrite.then(work);
    lastWrite = turn.catch((error: unknown) => {
      isUncertain ||= isLeaseError(error) && error.code === "STORE_FAILED";
    });
    return turn;
  };
  return {
    get record() {
      return record;
    },
    get isAbsent() {
      return isAbsent;
    },
    insert: () => inTurn(() => store.insert(record)),
    write: (decide) =>
      inTurn(async () => {
        if (isUncertain) await readAgain();
        const change = decide(record);
        if (change !== undefined) record = await store.update(record.id, record.generation, change);
        return record;
      }),
  };
}
