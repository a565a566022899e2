import type { Scheduler } from "@berth/environment-leases";

/** Time that a test moves. */
export interface ManualClock extends Scheduler {
  /** Moves on and calls what is due, in order of its time. */
  advance(ms: number): void;
  /** Timers that are set. */
  readonly pending: number;
}

export function createManualClock(): ManualClock {
  let time = 0;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  const nextDue = (until: number) => [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => time,
    after(delayMs, callback) {
      const timer = { at: time + delayMs, callback };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    advance(ms) {
      const until = time + ms;
      for (let due = nextDue(until); due !== undefined; due = nextDue(until)) {
        timers.delete(due);
        time = due.at;
        due.callback();
      }
      time = until;
    },
    get pending() {
      return timers.size;
    },
  };
}
