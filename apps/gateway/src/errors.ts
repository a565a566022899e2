/** Exit codes, the same for every command. */
export const exitCodes = { good: 0, failed: 1, usage: 2, refused: 3 } as const;

/** Reasons a command ends early. */
export type GatewayErrorCode =
  | "USAGE"
  | "CATALOG_INVALID"
  | "CATALOG_UNREADABLE"
  | "CONFIG_INVALID"
  | "ENVIRONMENT_UNRESOLVED"
  | "STATE_UNUSABLE"
  | "STATE_NEWER"
  | "LOCKED"
  | "CATALOG_CHANGED"
  | "REFUSED";

/** Ends a command with a message for a person. `lines` hold one problem each and are shown under it. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: GatewayErrorCode;
  readonly lines: readonly string[];
  constructor(code: GatewayErrorCode, message: string, options: ErrorOptions & { lines?: readonly string[] } = {}) {
    super(message, options);
    this.code = code;
    this.lines = options.lines ?? [];
  }
}

/** The exit code for what a command threw. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof GatewayError)) return exitCodes.failed;
  if (error.code === "REFUSED") return exitCodes.refused;
  return error.code === "LOCKED" || error.code === "CATALOG_CHANGED" ? exitCodes.failed : exitCodes.usage;
}
