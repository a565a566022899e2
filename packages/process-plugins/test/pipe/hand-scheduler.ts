import type { Scheduler } from "@berth/jsonrpc-framing";

/** Time that only a test moves. */
export function handScheduler(): Scheduler & { pass(ms: number): void } {
  let now = 0;
  let timers: { readonly at: number; readonly callback: () => void }[] = [];
  return {
    now: () => now,
    after: (delayMs, callback) => {
      const timer = { at: now + delayMs, callback };
      timers.push(timer);
      const cancel = (): void => {
        timers = timers.filter((each) => each !== timer);
      };
      return { cancel, hold: () => {} };
    },
    pass: (ms) => {
      now += ms;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { callback } of due) callback();
    },
  };
}
