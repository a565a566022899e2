import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { ConfinementError } from "../errors.js";
import { markProcess, type ProcessMark } from "../identity/process-identity.js";
import { inOrder } from "../limits/join.js";
import { bubblewrapArguments, type SandboxPlan } from "../plan/bubblewrap-argv.js";
import { quote } from "../plan/start-script.js";
import { ownFiles } from "../plan/system-tree.js";
import { seccompFilter } from "../seccomp/filter.js";
import { createGate } from "../waits/gate.js";
import { guardDevices, ownsDevices } from "./guard-devices.js";
import type { ConfinementHost } from "./host.js";
import { listInherited } from "./inherited-descriptors.js";
import { type ReadyStream, readReady } from "./ready-stream.js";
import type { HostTools } from "./refuse-here.js";
import { readStatus, type StatusStream } from "./status-stream.js";
import { watchSetUp } from "./watch-set-up.js";

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
  /** What the launcher and bubblewrap are told. */
  readonly args: Writable;
  readonly ready: ReadyStream;
  readonly status: StatusStream;
  /** Whether it keeps this program alive, as every child does at first. What only waits does not: it ends with the program. */
  keepsAlive(does: boolean): void;
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

/** A shell that waits for the line by which it becomes bubblewrap. */
export interface Launcher {
  readonly tools: HostTools;
  /** The command inside, when the shell was given it as arguments: a line is read byte by byte. */
  readonly command: readonly string[] | undefined;
  /** Descriptors that this process inherited when it was started. */
  readonly spent: readonly number[];
  readonly launched: Launched;
}

export interface LauncherOptions {
  readonly tools: HostTools;
  /** Program and arguments that go before everything else. */
  readonly before?: readonly string[] | undefined;
  /** The command inside, when it is known already. */
  readonly command?: readonly string[] | undefined;
  /** Default false. */
  readonly noGrowth?: boolean;
}

// Each of them is the same in all sandboxes, so that whatever waits has them already.
const texts = ownFiles.map(({ content }) => content);
const afterTexts = firstText + texts.length;

/**
 * Starts what will become bubblewrap: it protects the devices, watches over the set-up, and waits.
 * @throws {ConfinementError} `CONFINEMENT_UNAVAILABLE`, `SANDBOX_NOT_STARTED`.
 */
export async function startLauncher(
  host: ConfinementHost,
  { tools, before = [], command, noGrowth = false }: LauncherOptions,
): Promise<Launcher> {
  const guard = guardDevices(ownsDevices(), host);
  const script = `${inOrder([watchSetUp, ...guard.steps, becomesLine])} eval "$line"`;
  const [file = "/bin/sh", ...args] = [
    ...[...before, ...guard.before, "/bin/sh", "-c", script, "sh"],
    ...(command ?? []),
  ];
  // Looked at in the same turn as the spawn: what is opened later by us is closed on exec.
  const spent = listInherited(afterTexts);
  const child = spawnWithout(spent, afterTexts, file, args);
  const launched = await hold(child);
  feed(child, seccompDescriptor, seccompFilter(tools.architecture, { noGrowth }));
  for (const [index, content] of texts.entries()) feed(child, firstText + index, content);
  // At the exit Node throws away what nobody has begun to read of the pipes that are listed here.
  child.stdio.splice(0);
  return { tools, command, spent, launched };
}

/** The line comes first on the descriptor of the arguments; a shell takes no more from it than that. */
const becomesLine = `IFS= read -r line <&${argsDescriptor}`;

/**
 * Lets it become bubblewrap. Nothing of the caller's runs yet: the first process inside waits for the host's word.
 * @param entry The beginning of a line: what the shell does before.
 */
export function becomeBubblewrap(
  { tools, command, spent, launched }: Launcher,
  plan: SandboxPlan,
  entry: string,
): Launched {
  const { argv, args } = bubblewrapArguments(plan, {
    args: argsDescriptor,
    status: statusDescriptor,
    seccomp: seccompDescriptor,
    texts: texts.map((_, index) => firstText + index),
    spent,
  });
  const own = argv.slice(0, argv.length - plan.command.length);
  const inner = command === undefined ? plan.command.map(quote) : ['"$@"'];
  const line = [entry, ...[tools.bubblewrap, ...own].map(quote), ...inner].join(" ");
  launched.args.end(`${line}\n${args.map((text) => `${text}\0`).join("")}`);
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
  const held = [child, ...child.stdio.filter((pipe) => pipe instanceof Socket)];
  stdin.on("error", () => {}); // the command closed its input, or ended: a caller who wants to know listens, too
  return {
    outer: markProcess(child.pid),
    exited: exited.passed,
    stdin,
    stdout: pipeOf(child, 1),
    stderr: pipeOf(child, 2),
    word: wordTo(child, wordDescriptor),
    lifeline: wordTo(child, lifelineDescriptor),
    args: wordTo(child, argsDescriptor),
    ready: readReady(pipeOf(child, readyDescriptor)),
    status: readStatus(pipeOf(child, statusDescriptor)),
    keepsAlive: (does) => {
      for (const one of held) does ? one.ref() : one.unref();
    },
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
