import type { ChildProcess } from "node:child_process";
import { Duplex, type Readable, type Writable } from "node:stream";
import type { ExitStatus } from "./child-handle.js";
import { whenClosed } from "./child-pipes.js";
import { type ControlChannel, openControlChannel } from "./control-channel.js";
import { StdioTransportError } from "./errors.js";
import { createGate } from "./gate.js";
import type { Launcher } from "./launchers.js";

/** A launcher that was spawned, with its pipes: it becomes, or starts, the supervisor of the command. */
export interface Supervision {
  readonly supervisor: Launcher["supervisor"];
  /** Its number; it leads a session and a process group of this number. */
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when stdout and stderr are closed and what was read of them has been given out. */
  readonly pipesClosed: Promise<void>;
  readonly channel: ControlChannel;
  /** How the command ended. */
  readonly exited: Promise<ExitStatus>;
  /** Resolves with the launcher's own end when the channel has ended too. */
  readonly ended: Promise<ExitStatus>;
  /** Whether `ended` has come. */
  readonly isOver: () => boolean;
  /** Sends SIGKILL to the launcher's process group, unless its number may already be another's. */
  killLauncher(): void;
}

const killed: ExitStatus = { code: null, signal: "SIGKILL" };

/** @throws {StdioTransportError} `LAUNCHER_FAILED` when it could not be spawned. */
export async function supervise(spawned: ChildProcess, supervisor: Launcher["supervisor"]): Promise<Supervision> {
  const left = whenLeft(spawned);
  const failed = createGate<Error>();
  spawned.on("error", failed.open); // also later, when a signal could not be sent
  const { pid, stdin, stdout, stderr } = spawned;
  if (pid === undefined) {
    const cause = await failed.passed;
    throw launcherFailed(`the launcher did not start: ${cause.message}`, cause);
  }
  const control = spawned.stdio[3];
  if (stdin === null || stdout === null || stderr === null || !(control instanceof Duplex)) {
    spawned.kill("SIGKILL");
    throw launcherFailed("the spawn function returned a process without the four pipes");
  }
  for (const stream of [stdin, stdout]) stream.on("error", ignoreBrokenPipe);
  const pipesClosed = whenClosed([stdout, stderr]);
  const channel = openControlChannel(control);
  let isOver = false;
  const ended = Promise.all([left, channel.ended]).then(([status]) => {
    isOver = true;
    return status;
  });
  return {
    supervisor,
    pid,
    stdin,
    stdout,
    stderr,
    pipesClosed,
    channel,
    // The shell becomes the command. Perl tells; when it was told to end everything it says nothing any more.
    exited: supervisor === "sh" ? left : channel.exited.then((status) => status ?? killed),
    ended,
    isOver: () => isOver,
    killLauncher: () => {
      // Node reaps and says so in one step: until then the number is ours.
      if (spawned.exitCode === null && spawned.signalCode === null) killGroup(pid);
    },
  };
}

function whenLeft(spawned: ChildProcess): Promise<ExitStatus> {
  return new Promise((resolve) => {
    const { exitCode, signalCode } = spawned;
    if (exitCode !== null || signalCode !== null) resolve({ code: exitCode, signal: signalCode });
    else spawned.once("exit", (code, signal) => resolve({ code, signal }));
  });
}

function launcherFailed(message: string, cause?: Error): StdioTransportError {
  return new StdioTransportError("LAUNCHER_FAILED", message, { cause });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // ESRCH: nobody is left to kill.
  }
}

function ignoreBrokenPipe(): void {
  // Heard before the first write. The peer is gone, which is a normal end: the transport tells it to who sends.
}
