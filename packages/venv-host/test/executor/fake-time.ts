import type { Scheduler } from "../../src/executor.js";

/** Time that stands still until a test moves it. */
export interface FakeTime extends Scheduler {
  /** Moves on, and calls what is due. */
  pass(ms: number): void;
  /** Resolves when a timer of that length is set. */
  armed(delayMs: number): Promise<void>;
}

export function createFakeTime(): FakeTime {
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly delayMs: number; readonly callback: () => void }>();
  const waiting = new Map<number, () => void>();
  return {
    now: () => now,
    after(delayMs, callback) {
      const timer = { at: now + delayMs, delayMs, callback };
      timers.add(timer);
      waiting.get(delayMs)?.();
      return { cancel: () => void timers.delete(timer) };
    },
    pass(ms) {
      now += ms;
      for (const timer of [...timers].filter(({ at }) => at <= now)) {
        timers.delete(timer);
        timer.callback();
      }
    },
    armed(delayMs) {
      if ([...timers].some((timer) => timer.delayMs === delayMs)) return Promise.resolve();
      return new Promise((resolve) => waiting.set(delayMs, resolve));
    },
  };
}
