import { Worker } from "node:worker_threads";
import { askThread } from "./ask-thread.js";
import { AttestationError } from "./errors.js";
import { type JobKind, type Jobs, receiveError } from "./jobs.js";
import type { ThreadLimits } from "./measure-worker.js";
import { createThreadPool } from "./thread-pool.js";

/** Runs one job in a thread; rejects with `signal.reason` on abort. */
export type RunJob = <K extends JobKind>(
  kind: K,
  input: Jobs[K]["input"],
  options: { readonly signal?: AbortSignal | undefined },
) => Promise<Jobs[K]["output"]>;

/** How threads are kept. */
export interface ThreadsOptions {
  readonly limits: ThreadLimits;
  readonly timeoutMs: number;
  readonly maxThreads: number;
  readonly idleMs: number;
  readonly startWorker?: ((limits: ThreadLimits) => Worker) | undefined;
}

/** A few threads that take one job at a time. */
export interface Threads {
  readonly run: RunJob;
  close(): Promise<void>;
}

export function createThreads({
  limits,
  timeoutMs,
  startWorker = startBesideThis,
  ...bounds
}: ThreadsOptions): Threads {
  const pool = createThreadPool({ ...bounds, start: () => startWorker(limits) });
  const known = new Map<string, string>();
  const ending = new AbortController();

  const run: RunJob = async (kind, input, { signal }) => {
    const signals = signal === undefined ? [ending.signal] : [ending.signal, signal];
    for (const each of signals) each.throwIfAborted();
    const thread = await pool.acquire(signals);
    const aborted = signals.find((each) => each.aborted);
    if (aborted !== undefined) {
      pool.giveBack(thread);
      throw aborted.reason;
    }
    const asked = askThread(thread.worker, { kind, input, known }, { signals, timeoutMs });
    const reply = await asked.catch(async (error: unknown) => {
      // It was left in the middle of a job.
      await pool.drop(thread);
      throw error;
    });
    pool.giveBack(thread);
    learn(known, reply.learned);
    if (!reply.ok) throw receiveError(reply.error);
    return reply.output;
  };

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    ending.abort(
      new AttestationError("MEASURER_CLOSED", "the measurer was closed", { advice: "measure before it is closed" }),
    );
    closing ??= pool.dropAll();
    return closing;
  };
  return { run, close };
}

/** Interpreters and other large programs of one host are few. */
const maxKnown = 256;

function learn(known: Map<string, string>, learned: ReadonlyMap<string, string>): void {
  for (const [identity, digest] of learned) known.set(identity, digest);
  for (const oldest of known.keys()) {
    if (known.size <= maxKnown) return;
    known.delete(oldest);
  }
}

/**
 * The worker's own file, beside this module in `dist`. It gets nothing of the host's environment and start options,
 * so that no hook of the host runs in it.
 */
function startBesideThis(limits: ThreadLimits): Worker {
  const file = new URL("./measure-worker.js", import.meta.url);
  return new Worker(file, { workerData: limits, env: {}, execArgv: [], name: "berth-measure" });
}
