import type { CommandResult, GuestExit, GuestProcess } from "../environment.js";
import { LeaseError } from "../errors.js";
import { systemScheduler } from "../scheduler.js";
import { abortable, settlesWithin } from "../waits.js";
import { collectOutput } from "./collect-output.js";
import type { CommandTerms } from "./command-terms.js";
import type { Ending } from "./ending.js";
import type { GuestAgent, Started } from "./guest-agent.js";
import type { GuestBounds } from "./guest-limits.js";
import { guestProcess } from "./guest-process.js";
import { environmentEnded } from "./within.js";

export interface RunTerms {
  readonly command: CommandTerms;
  readonly stdin: Uint8Array;
  readonly timeoutMs: number;
  /** Sends SIGINT to its group, once. */
  readonly interrupt?: AbortSignal | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RunSurroundings {
  readonly agent: GuestAgent;
  readonly bounds: GuestBounds;
  readonly ending: Ending;
}

/** Runs a program to its end. The time for starting it counts. */
export async function runCommand({ agent, bounds, ending }: RunSurroundings, terms: RunTerms): Promise<CommandResult> {
  terms.signal?.throwIfAborted();
  const startedAt = performance.now();
  const { signal, stop } = bounded(terms);
  try {
    const started = await startReading(agent, terms, signal);
    await using process = guestProcess(started);
    const stdout = collectOutput(process.stream, bounds.maxOutputBytes);
    const stderr = collectOutput(process.stderr, bounds.maxOutputBytes);
    const exit = await interruptible(process, terms.interrupt, abortable(process.exited, signal));
    if (exit.code === undefined && exit.signal === undefined && ending.end !== undefined)
      throw environmentEnded(ending.end);
    // What cut itself loose from the command's group may hold its output for ever; nobody waits for that.
    await settlesWithin(Promise.all([stdout.done, stderr.done]), bounds.drainMs, systemScheduler);
    return describe(exit, stdout, stderr, performance.now() - startedAt);
  } finally {
    stop();
  }
}

/**
 * What it reads comes by a stream of its own: a write that fails, since a command ended without reading all, would take the
 * output with it.
 */
async function startReading(agent: GuestAgent, { command, stdin }: RunTerms, signal: AbortSignal): Promise<Started> {
  if (stdin.length === 0) return agent.start({ op: "spawn", stdin: "none", ...command }, { streams: 2, signal });
  const started = await agent.start({ op: "spawn", stdin: "own", ...command }, { streams: 3, signal });
  started.streams[2]?.end(stdin);
  return started;
}

async function interruptible<Value>(
  process: GuestProcess,
  interrupt: AbortSignal | undefined,
  ending: Promise<Value>,
): Promise<Value> {
  const onInterrupt = (): void => process.signal("SIGINT", { group: true });
  if (interrupt?.aborted === true) onInterrupt();
  interrupt?.addEventListener("abort", onInterrupt);
  try {
    return await ending;
  } finally {
    interrupt?.removeEventListener("abort", onInterrupt);
  }
}

/** A signal that also fires, with `COMMAND_TIMEOUT`, when the time is over. */
function bounded({ signal, timeoutMs }: RunTerms): { signal: AbortSignal; stop: () => void } {
  const timeout = new AbortController();
  const error = new LeaseError("COMMAND_TIMEOUT", `the command did not end within ${timeoutMs} ms and was killed`);
  const timer = setTimeout(() => timeout.abort(error), timeoutMs);
  const onAbort = (): void => timeout.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  const stop = (): void => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  };
  return { signal: timeout.signal, stop };
}

type Output = ReturnType<typeof collectOutput>;

function describe(exit: GuestExit, stdout: Output, stderr: Output, durationMs: number): CommandResult {
  return {
    exitCode: exit.code,
    signal: exit.signal,
    stdout: stdout.bytes(),
    stderr: stderr.bytes(),
    stdoutBytes: stdout.total(),
    stderrBytes: stderr.total(),
    durationMs,
  };
}
