import type { Scheduler } from "@berth/jsonrpc-framing";

/** A scheduler whose time moves only when a test says so. */
export interface ManualScheduler extends Scheduler {
  /** Moves the clock and runs what is due, in order. */
  advance(ms: number): void;
}

/** Begins at 0. */
export function createManualScheduler(): ManualScheduler {
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly callback: () => void }>();
  return {
    now: () => now,
    after(delayMs, callback) {
      const timer = { at: now + delayMs, callback };
      timers.add(timer);
      return { cancel: () => timers.delete(timer), hold: () => undefined };
    },
    advance(ms) {
      const until = now + ms;
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        timers.delete(due);
        now = Math.max(now, due.at);
        due.callback();
      }
      now = until;
    },
  };
}
