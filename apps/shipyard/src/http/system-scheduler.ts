import type { Scheduler } from "@berth/environment-leases";

/** The system's monotonic clock and timers. */
export const systemScheduler: Scheduler = {
  now: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};
