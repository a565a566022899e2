import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { Readable } from "node:stream";
import { type ChildHandle, type ExitStatus, openChild, type SpawnFunction } from "@berth/stdio-transport";
import { VenvHostError } from "../errors.js";
import { createAnswerLines, type LineReceiver } from "./answer-lines.js";
import { createGate, within } from "./waits.js";
import { workerArgv } from "./worker-argv.js";
import type { WorkerTerms } from "./worker-terms.js";

/** One worker process: lines in, lines out, and its end. */
export interface WorkerProcess {
  readonly pid: number;
  /** What the process does not take is told by its end. */
  send(line: Uint8Array): void;
  /** How it ended; resolves when all that it wrote was given out. Never rejects. */
  readonly gone: Promise<ExitStatus>;
  /** SIGKILL to everything of it, now; resolves when nothing is left. */
  kill(): Promise<void>;
  /** Sends a last line, and SIGKILL when the time is over. */
  shutdown(lastLine: Uint8Array, graceMs: number): Promise<void>;
}

/** Who is told what a process writes. */
export interface ProcessReceiver extends LineReceiver {
  onStderrLine(line: string): void;
  /** Called once, with the first byte on either pipe. */
  onFirstByte(): void;
}

const MAX_STDERR_LINE_BYTES = 8_192;
/** The largest task and its line end wait to be taken; nothing else is sent meanwhile but the shutdown task. */
const MAX_SENT_BYTES = 67_108_864;
/** How long the exit may come after the end of stdout; from then on it is a worker that cannot answer. */
const EXIT_FOLLOWS_MS = 100;
/** How long pipes may stay open after everything that held them got SIGKILL. */
const DRAIN_MS = 1_000;

/**
 * @param argv What to run in the worker's place.
 * @throws {VenvHostError} `WORKER_START_FAILED`; also the signal's reason.
 */
export async function startProcess(
  terms: WorkerTerms,
  receiver: ProcessReceiver,
  signal: AbortSignal,
  argv: readonly string[] = workerArgv(terms),
): Promise<WorkerProcess> {
  await checkFile(terms.python, constants.X_OK, "the environment has no interpreter");
  await checkFile(terms.script, constants.R_OK, "the environment has no CPEX worker");
  const command = await confined(terms, argv);
  const pipes: { stdout?: Readable } = {};
  try {
    const child = await open(terms, command.argv, receiver, pipes, signal);
    return holdProcess(child, pipes.stdout, receiver, terms, command.release);
  } catch (error) {
    await command.release();
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw startFailed(`the worker did not start: ${reason}`, { cause: error });
  }
}

async function checkFile(path: string, mode: number, fault: string): Promise<void> {
  try {
    await access(path, mode);
  } catch (error) {
    throw startFailed(`${fault}: ${path}`, { cause: error, cure: "Build the environment again." });
  }
}

async function confined(
  terms: WorkerTerms,
  argv: readonly string[],
): Promise<{ argv: readonly string[]; release: () => Promise<void> }> {
  if (terms.confine === undefined) return { argv, release: async () => undefined };
  try {
    const command = await terms.confine.by(argv, terms.confine.policy);
    return { argv: command.argv, release: () => command.release() };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const cure = "Repair the confinement, or take the option out; it is never left out by itself.";
    throw startFailed(`the worker cannot be confined: ${reason}`, { cause: error, cure });
  }
}

function startFailed(message: string, details: { cause: unknown; cure?: string }): VenvHostError {
  return new VenvHostError("WORKER_START_FAILED", message, { ...details, step: "start" });
}

function open(
  terms: WorkerTerms,
  argv: readonly string[],
  receiver: ProcessReceiver,
  pipes: { stdout?: Readable },
  signal: AbortSignal,
): Promise<ChildHandle> {
  const [file = "", ...args] = argv;
  return openChild({
    file,
    args,
    cwd: terms.cwd,
    env: terms.env,
    spawn: keepStdout(pipes),
    graceMs: { inputMs: 0, terminateMs: 0 },
    maxFrameBytes: MAX_SENT_BYTES,
    maxQueuedBytes: MAX_SENT_BYTES + 1_048_576,
    maxStderrLineBytes: MAX_STDERR_LINE_BYTES,
    stderrTailBytes: 0,
    onStderrLine: receiver.onStderrLine,
    signal,
    scheduler: terms.scheduler,
  });
}

/**
 * The launcher as it is always started, with its stdout kept: what plugins print stands among a worker's answers, which
 * the transport's frames have no room for. The transport is used to send, and for the end.
 */
function keepStdout(pipes: { stdout?: Readable }): SpawnFunction {
  return (file, args, options) => {
    const launcher = spawn(file, args, { ...options, env: { ...options.env } });
    if (launcher.stdout !== null) pipes.stdout = launcher.stdout;
    return launcher;
  };
}

function notEnded(cause: unknown): never {
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new VenvHostError("WORKER_CLOSED", `the worker could not be ended: ${reason}`, { cause, step: "end" });
}

function holdProcess(
  child: ChildHandle,
  stdout: Readable | undefined,
  receiver: ProcessReceiver,
  { scheduler, limits }: WorkerTerms,
  release: () => Promise<void>,
): WorkerProcess {
  if (stdout === undefined) throw new Error("a child without stdout");
  const outputEnded = createGate<void>();
  const lines = createAnswerLines(limits.maxContentBytes, receiver);
  stdout.once("data", receiver.onFirstByte);
  stdout.on("data", lines.push);
  stdout.once("close", () => outputEnded.open());
  let killing: Promise<void> | undefined;
  const kill = (): Promise<void> => (killing ??= child.kill().catch(notEnded).finally(release));
  const whenGone = async (): Promise<ExitStatus> => {
    await Promise.race([child.exited, outputEnded.passed]);
    await within(child.exited, EXIT_FOLLOWS_MS, scheduler);
    // What it started holds its pipes: without its end nobody would know when the last line was read.
    void kill().catch(() => undefined); // whoever closes it is told
    await within(child.pipesClosed, DRAIN_MS, scheduler);
    stdout.off("data", lines.push);
    lines.end();
    return child.exited;
  };
  return {
    pid: child.pid,
    send: (line) => void child.transport.send(line).catch(() => undefined), // its end tells
    gone: whenGone(),
    kill,
    shutdown: async (lastLine, graceMs) => {
      void child.transport.send(lastLine).catch(() => undefined);
      await within(child.exited, graceMs, scheduler);
      await kill();
    },
  };
}
