import { isChainError } from "@berth/audit-chain";
import { isSessionError } from "@berth/code-sessions";
import { isLeaseError } from "@berth/environment-leases";

/** Why nobody can be served now. Where the server keeps things, and what ails them, is the operator's alone. */
export interface Unavailability {
  readonly error: string;
  readonly code: "AUDIT_UNAVAILABLE" | "STORE_UNAVAILABLE" | "DISK_FULL";
  readonly cure: string;
}

const cure =
  "try again later; the operator finds the reason in the server's log, and makes room where its state folder lies";

/** Undefined for whatever is not a server that lacks room. */
export function unavailability(told: unknown): Unavailability | undefined {
  // A worker that could not be started, because its lease could not be written down.
  const fault = isSessionError(told) && told.code === "WORKER_NOT_STARTED" ? told.cause : told;
  if (isChainError(fault) && fault.code === "AUDIT_UNAVAILABLE")
    return { error: "nothing can be recorded now, so nothing is run", code: "AUDIT_UNAVAILABLE", cure };
  if (isLeaseError(fault) && fault.code === "STORE_FAILED")
    return { error: "the leases cannot be written now", code: "STORE_UNAVAILABLE", cure };
  return isDiskFull(fault) ? { error: "the server's disk is full", code: "DISK_FULL", cure } : undefined;
}

function isDiskFull(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && (fault.code === "ENOSPC" || fault.code === "EDQUOT");
}
