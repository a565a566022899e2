import type { Worker } from "node:worker_threads";
import { onAbort } from "./ask-thread.js";

/** One thread; it takes one job at a time. */
export interface Thread {
  readonly worker: Worker;
  idleTimer?: NodeJS.Timeout | undefined;
}

/** Who has a thread and who waits for one. */
export interface ThreadPool {
  /** A thread for oneself; rejects with the reason of the first signal that aborts. */
  acquire(signals: readonly AbortSignal[]): Promise<Thread>;
  /** For the next one who waits; else it ends when it stays without work. */
  giveBack(thread: Thread): void;
  /** Ends a thread that cannot take another job. */
  drop(thread: Thread): Promise<void>;
  dropAll(): Promise<void>;
}

/** How many threads there are, and for how long. */
export interface PoolOptions {
  readonly start: () => Worker;
  readonly maxThreads: number;
  readonly idleMs: number;
}

export function createThreadPool({ start, maxThreads, idleMs }: PoolOptions): ThreadPool {
  const alive = new Set<Thread>();
  const idle = new Set<Thread>();
  const waiting = new Set<(thread: Thread) => void>();

  const startThread = (): Thread => {
    const thread: Thread = { worker: start() };
    alive.add(thread);
    return thread;
  };
  const end = async (thread: Thread): Promise<void> => {
    clearTimeout(thread.idleTimer);
    alive.delete(thread);
    idle.delete(thread);
    await thread.worker.terminate();
  };
  const wait = (signals: readonly AbortSignal[]): Promise<Thread> =>
    new Promise((resolve, reject) => {
      const leave = onAbort(signals, (reason) => {
        waiting.delete(take);
        reject(reason);
      });
      const take = (thread: Thread): void => {
        leave();
        waiting.delete(take);
        resolve(thread);
      };
      waiting.add(take);
    });

  return {
    acquire: async (signals) => {
      const [free] = idle;
      const thread = free ?? (alive.size < maxThreads ? startThread() : await wait(signals));
      idle.delete(thread);
      clearTimeout(thread.idleTimer);
      thread.worker.ref();
      return thread;
    },
    giveBack: (thread) => {
      const [next] = waiting;
      if (next !== undefined) next(thread);
      else if (alive.has(thread)) {
        thread.worker.unref();
        thread.idleTimer = setTimeout(() => void end(thread), idleMs).unref();
        idle.add(thread);
      }
    },
    drop: async (thread) => {
      await end(thread);
      const [next] = waiting;
      if (next !== undefined && alive.size < maxThreads) next(startThread());
    },
    dropAll: async () => {
      await Promise.all([...alive].map(end));
    },
  };
}
