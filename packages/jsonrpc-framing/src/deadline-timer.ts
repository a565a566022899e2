import type { Scheduler, SchedulerTimer } from "./scheduler.js";

/** One timer for many deadlines: a timer for each call costs more than the rest of the call. */
export interface DeadlineTimer {
  /** Makes sure that the timer fires at this moment or earlier. */
  require(deadline: number): void;
  /** Whether the timer keeps the process running. */
  hold(held: boolean): void;
  cancel(): void;
}

/**
 * A timer that is set for the earliest deadline and left alone when that is met early: it then fires once for nothing.
 * @param expire Ends what is due and returns the next deadline; infinity when there is none.
 */
export function createDeadlineTimer(scheduler: Scheduler, expire: (now: number) => number): DeadlineTimer {
  let timer: SchedulerTimer | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let holds = false;
  const cancel = (): void => {
    timer?.cancel();
    timer = undefined;
    dueAt = Number.POSITIVE_INFINITY;
  };
  const fire = (): void => {
    cancel();
    require(expire(scheduler.now()));
  };
  const require = (deadline: number): void => {
    if (deadline >= dueAt) return;
    cancel();
    dueAt = deadline;
    timer = scheduler.after(Math.max(1, Math.ceil(deadline - scheduler.now())), fire);
    if (!holds) timer.hold(false);
  };
  const hold = (held: boolean): void => {
    if (holds === held) return;
    holds = held;
    timer?.hold(held);
  };
  return { require, hold, cancel };
}
