import { createDeferred, type Deferred } from "../deferred.js";
import type { EnvironmentEnd } from "../environment.js";
import { type Scheduler, systemScheduler } from "../scheduler.js";
import type { MemoryProcess } from "./process.js";

/** A worker in memory: lives in its world, whatever becomes of the provider that made it. */
export interface MemoryWorker {
  readonly name: string;
  readonly processes: Set<MemoryProcess>;
  readonly ended: Deferred<EnvironmentEnd>;
  readonly isAlive: boolean;
  hasShell: boolean;
  setDeadline(remainingMs: number): void;
  end(end: EnvironmentEnd): void;
}

/** Where workers live: a machine. A provider that is dropped, as in a crash, leaves it as it is; another one over it finds them. */
export interface MemoryWorld {
  /** Names of the workers that live. */
  readonly workers: readonly string[];
  /** Ends a worker from inside, as a crash or its memory limit would. Default: by SIGKILL. False when there is none. */
  endWorker(name: string, end?: EnvironmentEnd): boolean;
  /** For providers. */
  find(name: string): MemoryWorker | undefined;
  /** For providers. */
  start(name: string, deadlineMs: number): MemoryWorker;
}

/** `scheduler` drives the workers' own deadlines: default the system's. */
export function createMemoryWorld({
  scheduler = systemScheduler,
}: {
  readonly scheduler?: Scheduler;
} = {}): MemoryWorld {
  const workers = new Map<string, MemoryWorker>();
  return {
    get workers() {
      return [...workers.keys()];
    },
    find: (name) => workers.get(name),
    endWorker(name, end = { reason: "signal", detail: "SIGKILL" }) {
      const worker = workers.get(name);
      worker?.end(end);
      return worker !== undefined;
    },
    start(name, deadlineMs) {
      const worker = createWorker(name, scheduler, () => workers.delete(name));
      workers.set(name, worker);
      worker.setDeadline(deadlineMs);
      return worker;
    },
  };
}

function createWorker(name: string, scheduler: Scheduler, onEnd: () => void): MemoryWorker {
  const processes = new Set<MemoryProcess>();
  const ended = createDeferred<EnvironmentEnd>();
  let isAlive = true;
  let deadline: { cancel(): void } | undefined;
  const end = (how: EnvironmentEnd): void => {
    if (!isAlive) return;
    isAlive = false;
    deadline?.cancel();
    for (const process of processes) process.signal("SIGKILL");
    onEnd();
    ended.resolve(how);
  };
  return {
    name,
    processes,
    ended,
    get isAlive() {
      return isAlive;
    },
    hasShell: false,
    setDeadline(remainingMs) {
      deadline?.cancel();
      if (!isAlive) return;
      deadline = scheduler.after(remainingMs, () => end({ reason: "deadline", detail: "its own deadline" }));
    },
    end,
  };
}
