/** Reasons that authentication cannot be set up, or cannot say who somebody is. */
export type AuthErrorCode =
  | "AUTH_OPTIONS_INVALID"
  | "PEER_MISSING"
  | "FILE_UNREADABLE"
  | "FILE_MODE"
  | "TOKEN_FILE_INVALID"
  | "KEYS_INVALID"
  | "KEYS_UNAVAILABLE";

/** Thrown by what `@berth/mcp-server/auth` gives out. Match on `code`; `cause` is the original error. No token and no line of a file is in its text. */
export class AuthError extends Error {
  override readonly name = "AuthError";
  readonly code: AuthErrorCode;
  constructor(code: AuthErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Recognises an AuthError from any installed copy of the package, where `instanceof` fails. */
export function isAuthError(value: unknown): value is AuthError {
  return value instanceof Error && value.name === "AuthError" && "code" in value;
}

/** For a caller's options. */
export function optionFault(message: string): never {
  throw new AuthError("AUTH_OPTIONS_INVALID", message);
}
