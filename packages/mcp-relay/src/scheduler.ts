import type { Scheduler } from "@berth/jsonrpc-framing";

/** Node's clock and timers. A timer does not keep the process running unless it is held. */
export const systemScheduler: Scheduler = {
  now: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return {
      cancel: () => clearTimeout(timer),
      hold: (held) => {
        if (held) timer.ref();
        else timer.unref();
      },
    };
  },
};
