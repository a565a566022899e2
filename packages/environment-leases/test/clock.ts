import type { Scheduler } from "../src/index.js";

/** Both clocks of a test, moved by hand: the monotonic one with its timers, and the wall clock, which may also be set. */
export interface TestClock {
  readonly scheduler: Scheduler;
  /** Wall clock. */
  readonly now: () => number;
  /** Time passes: timers that are due run in order. */
  advance(ms: number): Promise<void>;
  /** Somebody sets the wall clock; no time passes. */
  setWall(byMs: number): void;
  readonly timers: number;
}

export function createTestClock(wallAt = 1_800_000_000_000): TestClock {
  let monotonic = 1_000;
  let wall = wallAt;
  let timers: { readonly at: number; readonly callback: () => void }[] = [];
  const next = (until: number): (() => void) | undefined => {
    const due = timers.filter(({ at }) => at <= until).sort((one, other) => one.at - other.at)[0];
    if (due === undefined) return undefined;
    timers = timers.filter((timer) => timer !== due);
    const step = Math.max(0, due.at - monotonic);
    monotonic += step;
    wall += step;
    return due.callback;
  };
  return {
    scheduler: {
      now: () => monotonic,
      after(delayMs, callback) {
        const timer = { at: monotonic + delayMs, callback };
        timers.push(timer);
        return {
          cancel() {
            timers = timers.filter((other) => other !== timer);
          },
        };
      },
    },
    now: () => wall,
    async advance(ms) {
      const until = monotonic + ms;
      await settle();
      for (let callback = next(until); callback !== undefined; callback = next(until)) {
        callback();
        await settle();
      }
      wall += until - monotonic;
      monotonic = until;
      await settle();
    },
    setWall(byMs) {
      wall += byMs;
    },
    get timers() {
      return timers.length;
    },
  };
}

/** Lets everything run that waits for no timer: promises, and streams in memory. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
