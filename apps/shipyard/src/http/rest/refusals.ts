import { isSessionError, type SessionError, type SessionErrorCode } from "@berth/code-sessions";
import { BodyRefusal } from "@berth/command-line/http";
import { isLeaseError, type LeaseErrorCode } from "@berth/environment-leases";
import { unavailability } from "../unavailability.js";
import { endBody } from "./to-wire.js";
import type { RefusalBody } from "./wire.js";

/** An answer that refuses. */
export interface Refusal {
  readonly status: number;
  readonly body: RefusalBody;
}

/** Codes that are missing here are faults of ours. */
const sessionStatus: Partial<Record<SessionErrorCode, number>> = {
  OPTION_INVALID: 400,
  SESSION_ID_INVALID: 400,
  CODE_INVALID: 400,
  FILE_PATH_INVALID: 400,
  FILE_REFUSED: 403,
  SESSION_NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  SESSION_EXISTS: 409,
  SESSION_DEAD: 410,
  SESSION_STOPPED: 410,
  WORKER_PROTOCOL: 410,
  CODE_TOO_LARGE: 413,
  FILE_TOO_LARGE: 413,
  IDEMPOTENCY_CONFLICT: 422,
  QUEUE_FULL: 429,
  SESSION_LIMIT_REACHED: 503,
  SESSIONS_BUSY: 503,
  SESSIONS_CLOSED: 503,
  WORKER_NOT_STARTED: 503,
  CALL_TIMEOUT: 504,
};
const leaseStatus: Partial<Record<LeaseErrorCode, number>> = {
  OPTION_INVALID: 400,
  LEASE_NOT_FOUND: 404,
  GENERATION_STALE: 409,
  LEASE_EXPIRED: 410,
  LEASE_ENDED: 410,
  ENVIRONMENT_ENDED: 410,
  QUOTA_REACHED: 503,
  LEASES_CLOSED: 503,
};

/** Undefined for what is no client's business: a fault of ours. */
export function toRefusal(fault: unknown): Refusal | undefined {
  if (fault instanceof BodyRefusal) return { status: fault.status, body: { error: fault.message } };
  if (isSessionError(fault)) {
    const status = sessionStatus[fault.code];
    return status === undefined ? undefined : { status, body: sessionRefusal(fault) };
  }
  const unavailable = unavailability(fault);
  if (unavailable !== undefined) return { status: 503, body: { ...unavailable } };
  if (!isLeaseError(fault)) return undefined;
  const status = leaseStatus[fault.code];
  return status === undefined
    ? undefined
    : { status, body: { error: fault.message, code: fault.code, cure: fault.cure } };
}

function sessionRefusal({ message, code, cure, end }: SessionError): RefusalBody {
  return { error: message, code, cure, end: end === undefined ? undefined : endBody(end) };
}
