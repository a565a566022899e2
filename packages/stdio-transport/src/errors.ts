/** Reasons a transport or a child cannot do what was asked. README § Errors lists what to do about each. */
export type StdioTransportErrorCode =
  | "TRANSPORT_CLOSED"
  | "QUEUE_FULL"
  | "FRAME_TOO_LARGE"
  | "FRAME_HAS_NEWLINE"
  | "CHILD_EXITED"
  | "CHILD_CLOSED_OUTPUT"
  | "CHILD_NOT_STARTED"
  | "CHILD_NOT_ENDED"
  | "START_TIMEOUT"
  | "LAUNCHER_FAILED"
  | "SPAWN_FROM_WORKER"
  | "PLATFORM_UNSUPPORTED"
  | "ENVIRONMENT_MISSING"
  | "REGISTRY_UNWRITABLE"
  | "OPTION_INVALID";

/** What a StdioTransportError knows beside its code. */
export interface StdioTransportErrorDetails extends ErrorOptions {
  /** See `StdioTransportError.reason`. */
  readonly reason?: string | undefined;
}

/** Thrown by everything in this package. Match on `code`; `cause` is the original error. */
export class StdioTransportError extends Error {
  override readonly name = "StdioTransportError";
  readonly code: StdioTransportErrorCode;
  /** The operating system's name for it (`ENOENT`, `EACCES`, `ENOEXEC` …), with `CHILD_NOT_STARTED` where it is known. */
  readonly reason: string | undefined;

  constructor(code: StdioTransportErrorCode, message: string, details?: StdioTransportErrorDetails) {
    super(message, details?.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.reason = details?.reason;
  }
}

/** Recognises a StdioTransportError from any installed copy of the package, where `instanceof` fails. */
export function isStdioTransportError(value: unknown): value is StdioTransportError {
  return value instanceof Error && value.name === "StdioTransportError" && "code" in value;
}
