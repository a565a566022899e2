/** Monotonic time and timers; tests pass their own. */
export interface Scheduler {
  /** Milliseconds that never go back. */
  now(): number;
  /** Calls once after so many milliseconds unless cancelled. Does not keep the process alive. */
  after(delayMs: number, callback: () => void): { cancel(): void };
}

/** The longest delay that `setTimeout` takes, 24.8 days; it treats a longer one as 1. */
const longestMs = 2_147_483_647;

/** The system's monotonic clock, and timers of any length that do not keep the process alive. */
export const systemScheduler: Scheduler = {
  now: () => performance.now(),
  after(delayMs, callback) {
    let timer: NodeJS.Timeout | undefined;
    const arm = (leftMs: number): void => {
      const isLast = leftMs <= longestMs;
      timer = isLast ? setTimeout(callback, leftMs) : setTimeout(() => arm(leftMs - longestMs), longestMs);
      timer.unref();
    };
    arm(delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
};
