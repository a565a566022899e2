import { isLeaseError, LeaseError } from "../errors.js";
import type { LeaseStore } from "../store.js";

/** The store, whose own errors are LeaseErrors from here on. */
export function checkedStore(store: LeaseStore): LeaseStore {
  const checked = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw isLeaseError(error)
        ? error
        : new LeaseError("STORE_FAILED", "the store of leases failed", { cause: error });
    }
  };
  return {
    insert: (record) => checked(() => store.insert(record)),
    update: (id, generation, change) => checked(() => store.update(id, generation, change)),
    touch: (id, lastUsedAt) => store.touch(id, lastUsedAt),
    get: (id) => checked(() => store.get(id)),
    list: (filter) => checked(() => store.list(filter)),
    listDue: (now) => checked(() => store.listDue(now)),
    prune: (endedBefore) => checked(() => store.prune(endedBefore)),
    close: () => checked(() => store.close()),
  };
}
