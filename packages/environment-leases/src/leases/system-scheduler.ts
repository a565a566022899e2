import type { Scheduler } from "../scheduler.js";

/** The system's monotonic clock, and timers that do not keep the process alive. */
export const systemScheduler: Scheduler = {
  now: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};
