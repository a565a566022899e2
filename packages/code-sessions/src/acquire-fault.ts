import { isLeaseError } from "@berth/environment-leases";
import { isSessionError, SessionError } from "./errors.js";

/**
 * Whether another worker may do what this one could not. Only asked before code was handed over. What the operator has
 * to change, a quota included, is the same for every worker.
 */
export function mayTryAgain(fault: unknown): boolean {
  if (isSessionError(fault)) return fault.code === "WORKER_NOT_STARTED" || fault.code === "SESSION_DEAD";
  if (!isLeaseError(fault)) return false;
  return fault.code === "LEASE_ENDED" || fault.code === "ENVIRONMENT_NOT_CREATED" || fault.code === "ENVIRONMENT_ENDED";
}

/** A fault of leases as this package tells it: one that its caller can act on. What is not a lease's stays as it is. */
export function toSessionFault(fault: unknown, whenFull: "SESSION_LIMIT_REACHED" | "SESSIONS_BUSY"): unknown {
  if (!isLeaseError(fault)) return fault;
  const details = { cause: fault, cure: fault.cure };
  switch (fault.code) {
    case "QUOTA_REACHED":
      return new SessionError(whenFull, "no more environments can be leased now", details);
    case "LEASES_CLOSED":
      return new SessionError("SESSIONS_CLOSED", "the leases are closed", details);
    case "OPTION_INVALID":
      return new SessionError("OPTION_INVALID", fault.message, details);
    case "STORE_FAILED":
    case "STORE_DAMAGED":
    case "STORE_CLOSED":
      // Where the operator keeps it, and what ails it, is not for whoever asks; `cause` has it.
      return new SessionError("WORKER_NOT_STARTED", "no worker could be started: the leases cannot be written now", {
        cause: fault,
        cure: "try again later, or tell the operator",
      });
    default:
      return new SessionError("WORKER_NOT_STARTED", `no worker could be started: ${fault.message}`, details);
  }
}
