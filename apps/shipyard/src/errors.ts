import { CommandError, type CommandErrorOptions, exitCodes } from "@berth/command-line";
import { isStateError } from "@berth/state-folder";

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

const usageCodes: readonly ShipyardErrorCode[] = [
  "USAGE",
  "CONFIG_INVALID",
  "STATE_UNUSABLE",
  "STATE_NEWER",
  "APPLICATION_INVALID",
];

/** Ends a command with a message for a person. `lines` hold one problem or one piece of advice each and are shown under it. */
export class ShipyardError extends CommandError<ShipyardErrorCode> {
  override readonly name = "ShipyardError";
  constructor(code: ShipyardErrorCode, message: string, options?: CommandErrorOptions) {
    super(code, usageCodes.includes(code) ? exitCodes.usage : exitCodes.failed, message, options);
  }
}

/** For `catch`: what a state folder or a file is refused for, as an error of ours; any other error again. */
export function ofState(error: unknown): never {
  if (!isStateError(error)) throw error;
  const code = error.code === "TEXT_TOO_LARGE" || error.code === "TEXT_NOT_A_FILE" ? "USAGE" : error.code;
  throw new ShipyardError(code, error.message, { cause: error.cause });
}
