/** Reasons a folder or a file of state is not used. */
export type StateErrorCode = "STATE_UNUSABLE" | "STATE_NEWER" | "TEXT_TOO_LARGE" | "TEXT_NOT_A_FILE";

/** Thrown by everything in this package that can refuse. Match on `code`; `cause` is the system's error, where there is one. */
export class StateError extends Error {
  override readonly name = "StateError";
  readonly code: StateErrorCode;
  constructor(code: StateErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Recognises a StateError from any installed copy of the package, where `instanceof` fails. */
export function isStateError(value: unknown): value is StateError {
  return value instanceof Error && value.name === "StateError" && "code" in value;
}
