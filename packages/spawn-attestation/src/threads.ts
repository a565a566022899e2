import { Worker } from "node:worker_threads";
import { askThread, onAbort } from "./ask-thread.js";
import { AttestationError } from "./errors.js";
import { type JobKind, type Jobs, receiveError } from "./jobs.js";
import type { ThreadLimits } from "./measure-worker.js";

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

interface Thread {
  readonly worker: Worker;
  idleTimer?: NodeJS.Timeout | undefined;
}

interface Waiting {
  take(thread: Thread): void;
}

export function createThreads(options: ThreadsOptions): Threads {
  const { startWorker = startBesideThis } = options;
  const alive = new Set<Thread>();
  const idle: Thread[] = [];
  const waiting = new Set<Waiting>();
  const known = new Map<string, string>();
  const ending = new AbortController();

  const end = async (thread: Thread): Promise<void> => {
    clearTimeout(thread.idleTimer);
    alive.delete(thread);
    if (idle.includes(thread)) idle.splice(idle.indexOf(thread), 1);
    await thread.worker.terminate();
  };
  const start = (): Thread => {
    const thread: Thread = { worker: startWorker(options.limits) };
    alive.add(thread);
    return thread;
  };
  const acquire = (signals: readonly AbortSignal[]): Promise<Thread> => {
    const free = idle.pop() ?? (alive.size < options.maxThreads ? start() : undefined);
    if (free !== undefined) return Promise.resolve(free);
    return new Promise((resolve, reject) => {
      const leave = onAbort(signals, (reason) => {
        waiting.delete(place);
        reject(reason);
      });
      const place: Waiting = {
        take: (thread) => {
          leave();
          waiting.delete(place);
          resolve(thread);
        },
      };
      waiting.add(place);
    });
  };
  const giveBack = (thread: Thread): void => {
    const [next] = waiting;
    if (next !== undefined) {
      next.take(thread);
      return;
    }
    thread.worker.unref();
    thread.idleTimer = setTimeout(() => void end(thread), options.idleMs).unref();
    idle.push(thread);
  };
  /** After a thread was lost: whoever waits for one gets a new one. */
  const replace = (): void => {
    const [next] = waiting;
    if (next !== undefined && alive.size < options.maxThreads) next.take(start());
  };

  const run: RunJob = async (kind, input, { signal }) => {
    const signals = signal === undefined ? [ending.signal] : [ending.signal, signal];
    for (const each of signals) each.throwIfAborted();
    const thread = await acquire(signals);
    const aborted = signals.find((each) => each.aborted);
    if (aborted !== undefined) {
      giveBack(thread);
      throw aborted.reason;
    }
    clearTimeout(thread.idleTimer);
    thread.worker.ref();
    const asked = askThread(thread.worker, { kind, input, known }, { signals, timeoutMs: options.timeoutMs });
    const reply = await asked.catch(async (error: unknown) => {
      // A thread that was left in the middle of a job cannot take another one.
      await end(thread);
      replace();
      throw error;
    });
    giveBack(thread);
    learn(known, reply.learned);
    if (!reply.ok) throw receiveError(reply.error);
    return reply.output;
  };

  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    ending.abort(
      new AttestationError("MEASURER_CLOSED", "the measurer was closed", { advice: "measure before it is closed" }),
    );
    closing ??= Promise.all([...alive].map(end)).then(() => undefined);
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
