/** Exit codes, the same for every command. */
export const exitCodes = { good: 0, failed: 1, usage: 2, refused: 3 } as const;

/** Reasons a command ends early. */
export type ShipyardErrorCode =
  | "USAGE"
  | "CONFIG_INVALID"
  | "STATE_UNUSABLE"
  | "STATE_NEWER"
  | "APPLICATION_INVALID"
  | "APPLICATION_FAILED"
  | "NO_SANDBOX"
  | "STORE_LOCKED"
  | "LISTEN_FAILED"
  | "CONTROL_FAILED"
  | "LEASE_NOT_FOUND"
  | "CLEANUP_UNCONFIRMED"
  | "SHUTDOWN_UNFINISHED";

/** Ends a command with a message for a person. `lines` hold one problem or one piece of advice each and are shown under it. */
export class ShipyardError extends Error {
  override readonly name = "ShipyardError";
  readonly code: ShipyardErrorCode;
  readonly lines: readonly string[];
  constructor(code: ShipyardErrorCode, message: string, options: ErrorOptions & { lines?: readonly string[] } = {}) {
    super(message, options);
    this.code = code;
    this.lines = options.lines ?? [];
  }
}

const usageCodes: readonly ShipyardErrorCode[] = [
  "USAGE",
  "CONFIG_INVALID",
  "STATE_UNUSABLE",
  "STATE_NEWER",
  "APPLICATION_INVALID",
];

/** The exit code for what a command threw. */
export function exitCodeOf(error: unknown): number {
  return error instanceof ShipyardError && usageCodes.includes(error.code) ? exitCodes.usage : exitCodes.failed;
}
