import type { Scheduler } from "../scheduler.js";

/** The one timer of a set of leases: ticks at the latest after `everyMs`, earlier when something is due. */
export interface Sweeper {
  /** Something is due in so many milliseconds. */
  whenDue(delayMs: number): void;
  stop(): void;
}

/** Not more often, so that what is due at once cannot keep the process busy. */
const shortestMs = 20;

export function createSweeper(tick: () => number, everyMs: number, scheduler: Scheduler): Sweeper {
  let timer: { cancel(): void } | undefined;
  let plannedAt = Number.POSITIVE_INFINITY;
  let isStopped = false;
  const plan = (delayMs: number): void => {
    const delay = Math.max(shortestMs, Math.min(everyMs, Math.ceil(delayMs)));
    if (isStopped || scheduler.now() + delay >= plannedAt) return;
    timer?.cancel();
    plannedAt = scheduler.now() + delay;
    timer = scheduler.after(delay, () => {
      plannedAt = Number.POSITIVE_INFINITY;
      plan(tick());
    });
  };
  plan(everyMs);
  return {
    whenDue: plan,
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}
