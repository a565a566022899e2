import { type Scheduler, type SchedulerTimer, wireErrors } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";
import type { TaskBounds } from "./limits.js";

/** Which tasks there are, whose, and until when: counts and expiry cost no question to the store. */
export interface KnownTasks {
  has(taskId: string): boolean;
  /** Makes room for a task that will be created. @throws {RpcError} -32603 when there is none. */
  reserve(taskId: string, owner: string, expiresAt: number): void;
  /** One that is there already, whatever the limits say. */
  add(taskId: string, owner: string, expiresAt: number): void;
  forget(taskId: string): void;
  /** Stops the timer. */
  close(): void;
}

/** What the expiry works with. */
export interface Expiry {
  /** Milliseconds since 1970. */
  now(): number;
  readonly scheduler: Scheduler;
  /** Called for each task whose time is over, until it is forgotten. */
  onExpired(taskId: string): void;
}

/** A task that could not be removed is tried again after so long. */
const retryMs = 60_000;
/** The longest that a Scheduler takes; then the list is looked through for nothing. */
const maxDelayMs = 2_147_483_647;

export function createKnownTasks(bounds: TaskBounds, { now, scheduler, onExpired }: Expiry): KnownTasks {
  const tasks = new Map<string, { readonly owner: string; dueAt: number }>();
  const counts = new Map<string, number>();
  let timer: SchedulerTimer | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  let closed = false;

  // One timer for all: it reads the list, so no lost timer can keep a task.
  const sweep = (): void => {
    timer = undefined;
    timerAt = Number.POSITIVE_INFINITY;
    const time = now();
    for (const [taskId, task] of [...tasks]) {
      if (task.dueAt > time) continue;
      task.dueAt = time + retryMs;
      onExpired(taskId);
    }
    let nearest = Number.POSITIVE_INFINITY;
    for (const { dueAt } of tasks.values()) nearest = Math.min(nearest, dueAt);
    wake(nearest);
  };
  const wake = (at: number): void => {
    if (closed || at >= timerAt) return;
    timer?.cancel();
    timerAt = at;
    // The more tasks there are to look through, the seldomer: a second late for 100,000. Nobody can read them in that time.
    const seldom = Math.min(1_000, tasks.size / 100);
    timer = scheduler.after(Math.min(Math.max(1, seldom, at - now()), maxDelayMs), sweep);
    timer.hold(false);
  };
  const stop = (): void => {
    timer?.cancel();
    timer = undefined;
    timerAt = Number.POSITIVE_INFINITY;
  };
  const add: KnownTasks["add"] = (taskId, owner, dueAt) => {
    tasks.set(taskId, { owner, dueAt });
    counts.set(owner, (counts.get(owner) ?? 0) + 1);
    wake(dueAt);
  };
  return {
    has: (taskId) => tasks.has(taskId),
    add,
    reserve(taskId, owner, dueAt) {
      if (tasks.size >= bounds.maxTasks) throw full(bounds.maxTasks, "tasks");
      if ((counts.get(owner) ?? 0) >= bounds.maxTasksPerPrincipal) {
        throw full(bounds.maxTasksPerPrincipal, "tasks of yours");
      }
      add(taskId, owner, dueAt);
    },
    forget(taskId) {
      const task = tasks.get(taskId);
      if (task === undefined) return;
      tasks.delete(taskId);
      const left = (counts.get(task.owner) ?? 1) - 1;
      if (left > 0) counts.set(task.owner, left);
      else counts.delete(task.owner);
      if (tasks.size === 0) stop();
    },
    close() {
      closed = true;
      stop();
    },
  };
}

function full(limit: number, what: string): RpcError {
  return new RpcError(wireErrors.internal, `${limit} ${what} are kept; the oldest have to expire first`, {
    data: { limit },
  });
}
