/** Reasons a sandbox is refused or was not started. README § Errors lists what to do about each. */
export type ConfinementErrorCode =
  // What was asked for cannot be read.
  | "POLICY_INVALID"
  | "SANDBOX_OPTION_INVALID"
  | "PATH_NOT_FOUND"
  | "INTERPRETER_NOT_FOUND"
  // This machine cannot hold it.
  | "CONFINEMENT_UNAVAILABLE"
  | "LIMIT_NOT_ENFORCEABLE"
  | "PLATFORM_UNSUPPORTED"
  | "SPAWN_FROM_WORKER"
  // The sandbox did not come up, or did not go away.
  | "SANDBOX_NOT_STARTED"
  | "START_TIMEOUT"
  | "SANDBOX_NOT_ENDED"
  | "STARTER_CLOSED"
  // Egress.
  | "EGRESS_RULE_INVALID"
  | "EGRESS_SOCKET_FAILED";

/** What a ConfinementError knows beside its code. */
export interface ConfinementErrorDetails extends ErrorOptions {
  /** The member of the policy or option that is at fault, as a path: `limits.memoryBytes`. */
  readonly field?: string | undefined;
  /** What to do about it, one sentence that names a command or a setting. */
  readonly cure?: string | undefined;
}

/** Thrown by everything in this package. Match on `code`; `cause` is the original error. */
export class ConfinementError extends Error {
  override readonly name = "ConfinementError";
  readonly code: ConfinementErrorCode;
  readonly field: string | undefined;
  readonly cure: string | undefined;

  constructor(code: ConfinementErrorCode, message: string, details?: ConfinementErrorDetails) {
    super(message, details?.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.field = details?.field;
    this.cure = details?.cure;
  }
}

/** Recognises a ConfinementError from any installed copy of the package, where `instanceof` fails. */
export function isConfinementError(value: unknown): value is ConfinementError {
  return value instanceof Error && value.name === "ConfinementError" && "code" in value;
}
