/** Reasons a lease or an environment is refused or has ended. README § Errors lists what to do about each. */
export type LeaseErrorCode =
  // What was asked for cannot be read, or is not approved.
  | "POLICY_INVALID"
  | "PROFILE_INVALID"
  | "PAYLOAD_INVALID"
  | "OPTION_INVALID"
  | "PROFILE_UNKNOWN"
  | "PROVIDER_UNKNOWN"
  | "CAPABILITY_MISSING"
  // Leases.
  | "LEASE_NOT_FOUND"
  | "LEASE_EXPIRED"
  | "LEASE_ENDED"
  | "GENERATION_STALE"
  | "QUOTA_REACHED"
  | "QUEUE_FULL"
  | "LEASES_CLOSED"
  | "CLEANUP_UNCONFIRMED"
  // Environments.
  | "ENVIRONMENT_NOT_CREATED"
  | "MOUNT_FULL"
  | "ENVIRONMENT_ENDED"
  | "COMMAND_NOT_STARTED"
  | "COMMAND_TIMEOUT"
  | "SHELL_NOT_GRANTED"
  | "PACKAGES_NOT_GRANTED"
  | "EXPOSURE_NOT_GRANTED"
  | "WHEEL_REFUSED"
  | "REQUEST_REFUSED"
  | "RELAY_FAILED"
  | "INPUT_TOO_LARGE"
  // Stores.
  | "STORE_LOCKED"
  | "STORE_DAMAGED"
  | "STORE_VERSION_UNKNOWN"
  | "STORE_FAILED"
  | "STORE_CLOSED"
  | "SQLITE_UNAVAILABLE";

/** One member that is at fault. */
export interface FieldFault {
  /** As a path: `allowedHosts[2]`, `limits.memoryBytes`. */
  readonly field: string;
  /** What it has to be and what it was, without secrets; one sentence. */
  readonly fault: string;
}

/** What a LeaseError knows beside its code. */
export interface LeaseErrorDetails extends ErrorOptions {
  /** Every member at fault, not only the first. */
  readonly faults?: readonly FieldFault[] | undefined;
  /** What to do about it, one sentence. */
  readonly cure?: string | undefined;
}

/** Thrown by everything in this package. Match on `code`; `cause` is the original error. */
export class LeaseError extends Error {
  override readonly name = "LeaseError";
  readonly code: LeaseErrorCode;
  readonly faults: readonly FieldFault[];
  readonly cure: string | undefined;

  constructor(code: LeaseErrorCode, message: string, details?: LeaseErrorDetails) {
    super(message, details?.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.faults = details?.faults ?? [];
    this.cure = details?.cure;
  }
}

/** Recognises a LeaseError from any installed copy of the package, where `instanceof` fails. */
export function isLeaseError(value: unknown): value is LeaseError {
  return value instanceof Error && value.name === "LeaseError" && "code" in value;
}
