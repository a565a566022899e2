/** Reasons a session or a call is refused or has ended. README § Errors lists what to do about each. */
export type SessionErrorCode =
  | "OPTION_INVALID"
  | "SESSION_ID_INVALID"
  | "SESSION_EXISTS"
  | "SESSION_NOT_FOUND"
  | "SESSION_DEAD"
  | "SESSION_STOPPED"
  | "SESSION_LIMIT_REACHED"
  | "SESSIONS_BUSY"
  | "SESSIONS_CLOSED"
  | "CODE_INVALID"
  | "CODE_TOO_LARGE"
  | "QUEUE_FULL"
  | "CALL_TIMEOUT"
  | "IDEMPOTENCY_CONFLICT"
  | "WORKER_NOT_STARTED"
  | "WORKER_PROTOCOL"
  | "FILE_NOT_FOUND"
  | "FILE_PATH_INVALID"
  | "FILE_TOO_LARGE"
  | "FILE_REFUSED";

export interface SessionErrorDetails extends ErrorOptions {
  /** How the session ended, with `SESSION_DEAD`. */
  readonly end?: SessionEnd | undefined;
  /** What to do about it, one sentence. */
  readonly cure?: string | undefined;
}

/** Why a session is no more. */
export interface SessionEnd {
  /**
   * `stopped` by its owner, `memory`, `disk` and `output` (its environment was ended over that limit), `signal`, `exit` (the
   * worker left by itself), `timeout` (did not answer an interrupt), `protocol` (its channel was broken), `expired` (hard or
   * idle limit), `lost`, `shutdown`.
   */
  readonly reason:
    | "stopped"
    | "memory"
    | "disk"
    | "output"
    | "signal"
    | "exit"
    | "timeout"
    | "protocol"
    | "expired"
    | "lost"
    | "shutdown";
  /** Exit status, signal name, limit, or why its lease ended (`idle`, `hard-limit`, `operator`): for a person. */
  readonly detail: string;
  /** Wall clock milliseconds since 1970. */
  readonly at: number;
}

/** Thrown by everything in this package. Match on `code`; `cause` is the original error. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  readonly code: SessionErrorCode;
  readonly end: SessionEnd | undefined;
  readonly cure: string | undefined;

  constructor(code: SessionErrorCode, message: string, details?: SessionErrorDetails) {
    super(message, details?.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.end = details?.end;
    this.cure = details?.cure;
  }
}

/** Recognises a SessionError from any installed copy of the package, where `instanceof` fails. */
export function isSessionError(value: unknown): value is SessionError {
  return value instanceof Error && value.name === "SessionError" && "code" in value;
}
