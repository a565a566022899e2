/** A timer of a Scheduler. */
export interface SchedulerTimer {
  cancel(): void;
  /** Whether this timer alone keeps the process running. */
  hold(held: boolean): void;
}

/** Time, passed in so that tests need not wait. */
export interface Scheduler {
  /** Milliseconds on a clock that never goes back. */
  now(): number;
  /** Calls once, not before `delayMs` milliseconds (up to 2_147_483_647) have passed. */
  after(delayMs: number, callback: () => void): SchedulerTimer;
}

/** The longest delay that `setTimeout` takes; it treats a longer one as 1. */
const MAX_DELAY_MS = 2_147_483_647;

/** A Scheduler on Node's own clock and timers. */
export const systemScheduler: Scheduler = {
  now: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs, MAX_DELAY_MS));
    return {
      cancel: () => clearTimeout(timer),
      hold: (held) => void (held ? timer.ref() : timer.unref()),
    };
  },
};
