import { isLeaseError, type LeaseStore } from "@berth/environment-leases";
import { openSqliteLeaseStore } from "@berth/environment-leases/sqlite";
import { ShipyardError } from "../errors.js";
import type { StateFolder } from "../state-folder.js";

/**
 * The lease store of a state folder, which one process at a time has.
 * @throws {ShipyardError} `STORE_LOCKED`, `STATE_UNUSABLE`
 */
export async function openStore(state: StateFolder): Promise<LeaseStore> {
  try {
    return await openSqliteLeaseStore({ path: state.leases });
  } catch (error) {
    if (!isLeaseError(error)) throw error;
    if (error.code === "STORE_LOCKED") {
      throw new ShipyardError("STORE_LOCKED", error.message, { cause: error.cause, lines: [secondServer] });
    }
    const lines = error.cure === undefined ? [] : [error.cure];
    throw new ShipyardError("STATE_UNUSABLE", error.message, { cause: error.cause, lines });
  }
}

const secondServer =
  "end that process first; a second server beside it needs a state folder and a port of its own: --state DIR --http 127.0.0.1:0";
