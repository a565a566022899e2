/** Reasons an environment or its worker cannot be used. README § Errors lists what to do about each. */
export type VenvHostErrorCode =
  | "OPTION_INVALID"
  // Environments.
  | "INTERPRETER_NOT_FOUND"
  | "REQUIREMENTS_INVALID"
  | "STORE_UNUSABLE"
  | "STORE_CLOSED"
  | "VENV_BUILD_FAILED"
  // Workers.
  | "WORKER_START_FAILED"
  | "WORKER_DIED"
  | "WORKER_TIMEOUT"
  | "WORKER_ERROR"
  | "WORKER_BUSY"
  | "WORKER_CLOSED"
  | "TASK_TOO_LARGE"
  | "RESPONSE_TOO_LARGE"
  | "PROTOCOL_ERROR"
  | "CREDENTIAL_ERROR";

/** What a VenvHostError knows beside its code; members that do not apply are absent. */
export interface VenvHostErrorDetails extends ErrorOptions {
  /** How a process ended; null for a signal. */
  readonly exitCode?: number | null | undefined;
  /** What was being done: `create`, `install`, `publish`, `start`, `probe`, `call`, … */
  readonly step?: string | undefined;
  /** The last 4_096 bytes of stderr at most, cut at a character; never a credential. */
  readonly stderrExcerpt?: string | undefined;
  readonly isStderrTruncated?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  readonly sizeBytes?: number | undefined;
  readonly limitBytes?: number | undefined;
  /** What to do about it, one sentence. */
  readonly cure?: string | undefined;
}

/** Thrown by the main entry. Match on `code`; `cause` is the original error. */
export class VenvHostError extends Error {
  override readonly name = "VenvHostError";
  readonly code: VenvHostErrorCode;
  readonly details: Omit<VenvHostErrorDetails, "cause">;

  constructor(code: VenvHostErrorCode, message: string, details?: VenvHostErrorDetails) {
    const { cause, ...rest } = details ?? {};
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = rest;
  }
}

/** Recognises a VenvHostError from any installed copy of the package, where `instanceof` fails. */
export function isVenvHostError(value: unknown): value is VenvHostError {
  return value instanceof Error && value.name === "VenvHostError" && "code" in value;
}
