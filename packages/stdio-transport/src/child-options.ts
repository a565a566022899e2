import type { ChildProcess } from "node:child_process";
import type { Scheduler } from "@berth/jsonrpc-framing";
import type { TransportLimits } from "./transport.js";

/** What a SpawnFunction is asked for: a subset of Node's own SpawnOptions. */
export interface LaunchSpawnOptions {
  /** The environment of the launcher. The command's own environment is not in it: it travels over the control channel. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  /** Four pipes: stdin, stdout, stderr and the control channel, which must stay descriptor 3. */
  readonly stdio: ["pipe", "pipe", "pipe", "pipe"];
  readonly detached: boolean;
}

/**
 * Starts the launcher in place of `child_process.spawn`, for instance inside a sandbox: `file` and `args` are the
 * launcher, which starts the command once it was told so over descriptor 3. No shell; stdio is passed through.
 */
export type SpawnFunction = (
  file: string,
  args: readonly string[],
  options: LaunchSpawnOptions,
) => ChildProcess | Promise<ChildProcess>;

/** How long each stage of the end may take, in milliseconds: 0 (`killMs`: 100) to 600_000. */
export interface Graces {
  /** From the end of its input to SIGTERM. Default 2_000. */
  readonly inputMs?: number | undefined;
  /** From SIGTERM to SIGKILL. Default 2_000. */
  readonly terminateMs?: number | undefined;
  /** From SIGKILL until the absence of every process must be confirmed; then `CHILD_NOT_ENDED`. Default 5_000. */
  readonly killMs?: number | undefined;
}

/** What `openChild` accepts. */
export interface ChildOptions extends TransportLimits {
  /** The path that exec gets, unresolved; without a slash it is looked up in the PATH of `env`. Never a shell. */
  readonly file: string;
  /** The command's own name. Default `file`. */
  readonly argv0?: string | undefined;
  /** Arguments after `argv0`. */
  readonly args: readonly string[];
  /** The whole environment of the command: nothing is added. See `listedEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  /** Working directory. Default: ours. */
  readonly cwd?: string | undefined;
  /** Starts the launcher. Default `child_process.spawn`. */
  readonly spawn?: SpawnFunction | undefined;
  /** `auto` (default): a pid namespace where it works, else the group. `group`: no namespace is tried. */
  readonly containment?: "auto" | "group" | undefined;
  /** Folder in which each living child is recorded, for `sweepChildren`. Made with mode 0700. Default: no record. */
  readonly registry?: string | undefined;
  readonly graceMs?: Graces | undefined;
  /** Time until the command was executed: 1 to 600_000 milliseconds. Default 10_000. Above: `START_TIMEOUT`. */
  readonly startTimeoutMs?: number | undefined;
  /** How much of stderr is kept: 0 to 16_777_216 bytes. Default 64 KiB. All of it is read and counted. */
  readonly stderrTailBytes?: number | undefined;
  /** Longest line given to `onStderrLine`: 80 to 1_048_576 bytes. Default 8 KiB. The rest of a longer line is left out. */
  readonly maxStderrLineBytes?: number | undefined;
  /** For a logger: each line of stderr, without its line end, invalid UTF-8 replaced. */
  readonly onStderrLine?: ((line: string) => void) | undefined;
  /** Ends the start: the child is ended and `openChild` rejects with the signal's reason. Later it has no effect. */
  readonly signal?: AbortSignal | undefined;
  /** Default: `performance.now` and `setTimeout`. */
  readonly scheduler?: Scheduler | undefined;
}
