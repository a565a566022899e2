import { CommandError, type CommandErrorOptions, type ExitCode, exitCodes } from "@berth/command-line";
import { isStateError } from "@berth/state-folder";

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
  | "PLUGINS_FAILED"
  | "REFUSED";

/** Ends a command with a message for a person. `lines` hold one problem each and are shown under it. */
export class GatewayError extends CommandError<GatewayErrorCode> {
  override readonly name = "GatewayError";
  constructor(code: GatewayErrorCode, message: string, options?: CommandErrorOptions) {
    super(code, exitCodeFor(code), message, options);
  }
}

function exitCodeFor(code: GatewayErrorCode): ExitCode {
  if (code === "REFUSED") return exitCodes.refused;
  return code === "LOCKED" || code === "CATALOG_CHANGED" || code === "PLUGINS_FAILED"
    ? exitCodes.failed
    : exitCodes.usage;
}

/** For `catch`: what a state folder or a file is refused for, as an error of ours; any other error again. */
export function ofState(error: unknown): never {
  if (!isStateError(error)) throw error;
  const code = error.code === "TEXT_TOO_LARGE" || error.code === "TEXT_NOT_A_FILE" ? "USAGE" : error.code;
  throw new GatewayError(code, error.message, { cause: error.cause });
}
