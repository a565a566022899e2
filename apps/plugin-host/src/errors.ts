import { CommandError, type CommandErrorOptions, exitCodes } from "@berth/command-line";
import { isStateError } from "@berth/state-folder";

/** Reasons a command ends early. */
export type AppErrorCode =
  | "USAGE"
  | "CONFIG_INVALID"
  | "PAYLOAD_INVALID"
  | "STATE_UNUSABLE"
  | "STATE_NEWER"
  | "PLUGIN_UNAVAILABLE"
  | "INTERRUPTED"
  | "LISTEN_FAILED"
  | "SHUTDOWN_UNFINISHED";

const failures: readonly AppErrorCode[] = ["PLUGIN_UNAVAILABLE", "INTERRUPTED", "LISTEN_FAILED", "SHUTDOWN_UNFINISHED"];

/** Ends a command with a message for a person. `lines` hold one problem or one piece of advice each and are shown under it. */
export class AppError extends CommandError<AppErrorCode> {
  override readonly name = "AppError";
  constructor(code: AppErrorCode, message: string, options?: CommandErrorOptions) {
    super(code, failures.includes(code) ? exitCodes.failed : exitCodes.usage, message, options);
  }
}

/** For `catch`: what a state folder or a file is refused for, as an error of ours; any other error again. */
export function ofState(error: unknown): never {
  if (!isStateError(error)) throw error;
  const code = error.code === "TEXT_TOO_LARGE" || error.code === "TEXT_NOT_A_FILE" ? "USAGE" : error.code;
  throw new AppError(code, error.message, { cause: error.cause });
}
