/** Reasons why a chain cannot be opened, extended or read. */
export type ChainErrorCode =
  | "OPTIONS_INVALID"
  | "ENTRY_INVALID"
  | "NOT_I_JSON"
  | "ENTRY_TOO_LARGE"
  | "LOCKED"
  | "LOG_DAMAGED"
  | "LOG_ID_MISMATCH"
  | "OPEN_FAILED"
  | "READ_FAILED"
  | "WRITE_FAILED"
  | "CHAIN_FAILED"
  | "CHAIN_BUSY"
  | "CHAIN_CLOSED"
  | "AUDIT_UNAVAILABLE";

/** Where in a log something is: enough to find the bytes with `dd` or an editor. */
export interface Place {
  /** Name of the segment file. */
  readonly segment: string;
  /** Offset in that file of the first byte of the line, in bytes. */
  readonly offset: number;
  /** Sequence number of the entry, or the one that is due there where it cannot be read. */
  readonly sequence: number;
}

/** Who holds a log: written by the owner itself into its lock record. */
export interface LockOwner {
  readonly pid: number;
  /** Clock ticks since boot at which the process started; null where the platform does not say. */
  readonly startTime: string | null;
  /** Changes at each boot of the machine; null where the platform does not say. */
  readonly bootId: string | null;
  /** Within which `pid` means something; null where the platform has none. */
  readonly pidNamespace: string | null;
  readonly host: string;
  /** When the lock was taken, RFC 3339 in UTC. */
  readonly since: string;
}

/** What a `ChainError` carries beside its code. */
export interface ChainErrorDetails extends ErrorOptions {
  /** For `LOG_DAMAGED`: where. */
  readonly place?: Place | undefined;
  /** For `LOCKED`: who holds the lock, when its record could be read. */
  readonly owner?: LockOwner | undefined;
}

/** Thrown by everything in this package that can refuse. Match on `code`; `cause` is the original error. */
export class ChainError extends Error {
  override readonly name = "ChainError";
  readonly code: ChainErrorCode;
  readonly place: Place | undefined;
  readonly owner: LockOwner | undefined;
  constructor(code: ChainErrorCode, message: string, details: ChainErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.place = details.place;
    this.owner = details.owner;
  }
}

/** Recognises a ChainError from any installed copy of the package, where `instanceof` fails. */
export function isChainError(value: unknown): value is ChainError {
  return value instanceof Error && value.name === "ChainError" && "code" in value;
}
