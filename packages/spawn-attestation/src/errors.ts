import type { Launch } from "./description.js";

/**
 * Why a launch was refused, in four groups: the description, its resolution, its measurement, the decision and guard.
 * Codes are stable: they go into audit records and to callers as `reason`.
 */
export type AttestationErrorCode =
  // The description cannot be used.
  | "DESCRIPTION_INVALID"
  | "IGNORE_INVALID"
  | "CWD_NOT_FOUND"
  | "PLATFORM_UNSUPPORTED"
  // The description does not lead to one program on disk.
  | "COMMAND_NOT_FOUND"
  | "COMMAND_NOT_A_FILE"
  | "COMMAND_NOT_EXECUTABLE"
  | "COMMAND_IS_SHIM"
  | "WINDOWS_SHIM"
  | "LAUNCHER_WITHOUT_TARGET"
  | "CODE_ON_COMMAND_LINE"
  | "EXECUTABLE_FORMAT_UNKNOWN"
  | "SHEBANG_INVALID"
  | "SHEBANG_TOO_DEEP"
  | "INTERPRETER_NOT_FOUND"
  | "SHIM_UNRESOLVED"
  | "PYTHON_CACHE_REDIRECTED"
  | "TARGET_MISSING"
  | "TARGET_NOT_FOUND"
  | "TARGET_NOT_A_FILE"
  | "TARGET_NOT_STABLE"
  | "TARGET_AMBIGUOUS"
  | "TARGET_REMOTE"
  | "TARGET_NOT_IN_ARGV"
  | "TARGET_IGNORED"
  | "LINK_LOOP"
  // The program cannot be measured.
  | "UNREADABLE"
  | "FILE_CHANGED"
  | "FILE_TOO_LARGE"
  | "TREE_CHANGED"
  | "TREE_TOO_LARGE"
  | "TREE_LINK_ESCAPES"
  | "TREE_LINK_LOOP"
  | "TREE_SPECIAL_FILE"
  | "MEASURE_TIMEOUT"
  | "MEASURE_FAILED"
  | "MEASURER_CLOSED"
  // It was measured, and the answer is no.
  | "NOT_PINNED"
  | "DIGEST_MISMATCH"
  | "INTERPRETER_CHANGED"
  | "TARGET_CHANGED"
  | "SNAPSHOT_INCOMPLETE"
  | "SNAPSHOT_FAILED"
  | "SCRATCH_NOT_PRIVATE"
  // A statement cannot be signed with this key.
  | "KEY_UNSUITABLE";

/** What an AttestationError carries beside its code and message. */
export interface AttestationErrorOptions extends ErrorOptions {
  /** What a person can change, naming the configuration key or the command. */
  readonly advice: string;
  /** The operating system's own code, such as `EACCES`. */
  readonly osCode?: string | undefined;
  /** What would have been executed, when resolution came that far; only an observing caller may still use it. */
  readonly launch?: Launch | undefined;
}

/** Thrown when a launch cannot be attested. Match on `code`; show `message` and `advice` to a person. */
export class AttestationError extends Error {
  override readonly name = "AttestationError";
  readonly code: AttestationErrorCode;
  /** What a person can change, naming the configuration key or the command. */
  readonly advice: string;
  /** The operating system's own code, such as `EACCES`. */
  readonly osCode: string | undefined;
  /** What would have been executed, when resolution came that far. Not enumerable: its environment may hold secrets. */
  declare readonly launch: Launch | undefined;
  constructor(code: AttestationErrorCode, message: string, options: AttestationErrorOptions) {
    super(message, options);
    this.code = code;
    this.advice = options.advice;
    this.osCode = options.osCode;
    Object.defineProperty(this, "launch", { value: options.launch, enumerable: false });
  }
}

/** Recognises an AttestationError from any installed copy of the package, where `instanceof` fails. */
export function isAttestationError(value: unknown): value is AttestationError {
  return value instanceof Error && value.name === "AttestationError" && "code" in value;
}
