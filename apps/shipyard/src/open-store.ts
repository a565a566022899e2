import { isLeaseError, type LeaseStore } from "@berth/environment-leases";
import { openSqliteLeaseStore } from "@berth/environment-leases/sqlite";
import { ShipyardError } from "./errors.js";
import type { StateFolder } from "./state-folder.js";

/**
 * The lease store of a state folder, which one process at a time has.
 * @throws {ShipyardError} `STORE_LOCKED`, `STATE_UNUSABLE`
 */
export async function openStore(state: StateFolder): Promise<LeaseStore> {
  try {
    return await openSqliteLeaseStore({ path: state.leases });
  } catch (error) {
    if (!isLeaseError(error)) throw error;
    const lines = error.cure === undefined ? [] : [error.cure];
    const code = error.code === "STORE_LOCKED" ? "STORE_LOCKED" : "STATE_UNUSABLE";
    throw new ShipyardError(code, error.message, { cause: error.cause, lines });
  }
}
