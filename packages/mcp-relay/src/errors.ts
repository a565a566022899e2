/** Reasons that a relay cannot be made, or that something handed to it cannot be used. */
export type RelayErrorCode =
  | "OPTIONS_INVALID"
  | "SERVER_NAME_INVALID"
  | "SERVER_NAMES_AMBIGUOUS"
  | "DEFINITION_INVALID"
  | "SERVER_UNREADABLE";

/** Thrown to the program that uses the relay, never sent to a client: what clients see is in `wire-errors.ts`. Match on `code`. */
export class RelayError extends Error {
  override readonly name = "RelayError";
  readonly code: RelayErrorCode;
  constructor(code: RelayErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Recognises a RelayError from any installed copy of the package, where `instanceof` fails. */
export function isRelayError(value: unknown): value is RelayError {
  return value instanceof Error && value.name === "RelayError" && "code" in value;
}
