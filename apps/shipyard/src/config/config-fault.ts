import { isSessionError } from "@berth/code-sessions";
import { isLeaseError } from "@berth/environment-leases";
import { ShipyardError } from "../errors.js";

/** Runs a step that reads the configuration's limits; those that do not go together are the configuration's fault. */
export function withConfig<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    const isOurs = (isLeaseError(error) || isSessionError(error)) && error.code === "OPTION_INVALID";
    if (!isOurs) throw error;
    throw new ShipyardError("CONFIG_INVALID", `the configuration cannot be used: ${error.message}`, {
      lines: isLeaseError(error) ? error.faults.map(({ field, fault }) => `${field} ${fault}`) : [],
    });
  }
}
