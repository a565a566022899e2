import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { ConfinementError } from "../errors.js";
import { markProcess, type ProcessMark } from "../identity/process-identity.js";
import { bubblewrapArguments, type SandboxPlan } from "../plan/bubblewrap-argv.js";
import { seccompFilter } from "../seccomp/filter.js";
import { createGate } from "../waits/gate.js";
import { listInherited } from "./inherited-descriptors.js";
import { type ReadyStream, readReady } from "./ready-stream.js";
import type { HostTools } from "./refuse-here.js";
import { readStatus, type StatusStream } from "./status-stream.js";

/** A bubblewrap that was started, and our ends of its pipes. */
export interface Launched {
  /** bubblewrap itself. */
  readonly outer: ProcessMark;
  /** How bubblewrap ended. Never rejects. */
  readonly exited: Promise<OuterExit>;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The host's word: the end of this stream tells what waits inside to give up. */
  readonly word: Writable;
  /** The end of this stream ends the set-up, unless `go` was said. */
  readonly lifeline: Writable;
  readonly ready: ReadyStream;
  readonly status: StatusStream;
}

export interface OuterExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Descriptors of bubblewrap. 3 and 4 are the handshake's and go through to the first process inside. */
const wordDescriptor = 3;
const readyDescriptor = 4;
const argsDescriptor = 5;
const statusDescriptor = 6;
const seccompDescriptor = 7;
const lifelineDescriptor = 8;
const firstText = 9;

/** More descriptors above this than anybody has: each below costs a place in a list. */
const maxInherited = 65_535;

/**
 * Starts bubblewrap. Nothing of the caller's runs yet: the first process inside waits for the host's word.
 * @param prefix Program and arguments that end in executing bubblewrap. They start with `watchSetUp`.
 * @throws {ConfinementError} `SANDBOX_NOT_STARTED`.
 */
export async function launch(plan: SandboxPlan, tools: HostTools, prefix: readonly string[]): Promise<Launched> {
  const texts = plan.mounts.flatMap((mount) => (mount.kind === "text" ? [mount.content] : []));
  const afterTexts = firstText + texts.length;
  // Looked at in the same turn as the spawn: what is opened later by us is closed on exec.
  const spent = listInherited(afterTexts);
  const { argv, args } = bubblewrapArguments(plan, {
    args: argsDescriptor,
    status: statusDescriptor,
    seccomp: seccompDescriptor,
    texts: texts.map((_, index) => firstText + index),
    spent,
  });
  const [file = tools.bubblewrap, ...rest] = [...prefix, tools.bubblewrap, ...argv];
  const child = spawnWithout(spent, afterTexts, file, rest);
  const launched = await hold(child);
  feed(child, argsDescriptor, args.map((text) => `${text}\0`).join(""));
  feed(child, seccompDescriptor, seccompFilter(tools.architecture));
  for (const [index, content] of texts.entries()) feed(child, firstText + index, content);
  // At the exit Node throws away what nobody has begun to read of the pipes that are listed here.
  child.stdio.splice(0);
  return launched;
}

/** `spent` become /dev/null, since Node cannot close them; bubblewrap then does. */
function spawnWithout(spent: readonly number[], pipes: number, file: string, args: readonly string[]): ChildProcess {
  const highest = Math.max(pipes - 1, ...spent);
  if (highest > maxInherited)
    throw new ConfinementError("SANDBOX_NOT_STARTED", `this process inherited the descriptor ${highest}`, {
      cure: `start the host without open descriptors above ${maxInherited}`,
    });
  const empty = openSync("/dev/null", "r");
  try {
    const stdio = Array.from({ length: highest + 1 }, (_, descriptor) =>
      descriptor < pipes ? ("pipe" as const) : spent.includes(descriptor) ? empty : ("ignore" as const),
    );
    // Its own session: a Ctrl-C at the host's terminal is the host's to answer.
    return spawn(file, args, { stdio, env: {}, cwd: "/", detached: true });
  } catch (cause) {
    throw notSpawned(cause); // such as E2BIG, which Node throws; others come as an event
  } finally {
    closeSync(empty);
  }
}

async function hold(child: ChildProcess): Promise<Launched> {
  const exited = createGate<OuterExit>();
  child.once("exit", (code, signal) => exited.open({ code, signal }));
  if (child.pid === undefined) throw await spawnFault(child);
  child.on("error", () => {}); // of a signal that could not be sent: whether it is gone is seen in /proc
  const stdin = pipeOf(child, 0);
  stdin.on("error", () => {}); // the command closed its input, or ended: a caller who wants to know listens, too
  return {
    outer: markProcess(child.pid),
    exited: exited.passed,
    stdin,
    stdout: pipeOf(child, 1),
    stderr: pipeOf(child, 2),
    word: wordTo(child, wordDescriptor),
    lifeline: wordTo(child, lifelineDescriptor),
    ready: readReady(pipeOf(child, readyDescriptor)),
    status: readStatus(pipeOf(child, statusDescriptor)),
  };
}

function wordTo(child: ChildProcess, descriptor: number): Socket {
  const pipe = pipeOf(child, descriptor);
  pipe.on("error", () => {}); // the sandbox ended first: seen by its exit
  return pipe.resume();
}

function spawnFault(child: ChildProcess): Promise<ConfinementError> {
  return new Promise((resolve) => {
    child.once("error", (cause) => resolve(notSpawned(cause)));
  });
}

function notSpawned(cause: unknown): ConfinementError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ConfinementError("SANDBOX_NOT_STARTED", `bubblewrap could not be started: ${reason}`, { cause });
}

function feed(child: ChildProcess, descriptor: number, content: string | Uint8Array): void {
  const pipe = pipeOf(child, descriptor);
  pipe.on("error", () => {}); // bubblewrap ended first: it says why on stderr
  pipe.resume();
  pipe.end(content);
}

function pipeOf(child: ChildProcess, descriptor: number): Socket {
  const pipe = child.stdio[descriptor];
  if (pipe instanceof Socket) return pipe;
  throw new Error(`descriptor ${descriptor} of a child is no pipe`);
}
