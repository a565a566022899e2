import type { Scheduler } from "../src/index.js";

interface FakeTimer {
  at: number;
  held: boolean;
  callback: () => void;
}

/** Time that moves only when the test says so. */
export interface FakeScheduler extends Scheduler {
  /** Moves time on and fires what becomes due on the way, in order. */
  advance(ms: number): void;
  /** How many timers are set, and how many of them keep the process running. */
  readonly timers: { readonly set: number; readonly held: number };
  /** How often a timer was set. */
  readonly armed: number;
}

/** See `FakeScheduler`. */
export function createFakeScheduler(): FakeScheduler {
  let now = 0;
  let armed = 0;
  const timers = new Set<FakeTimer>();
  const nextDue = (until: number): FakeTimer | undefined =>
    [...timers].filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
  return {
    now: () => now,
    after(delayMs, callback) {
      armed++;
      const timer: FakeTimer = { at: now + delayMs, held: true, callback };
      timers.add(timer);
      return {
        cancel: () => void timers.delete(timer),
        hold(held) {
          timer.held = held;
        },
      };
    },
    advance(ms) {
      const until = now + ms;
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        now = timer.at;
        timers.delete(timer);
        timer.callback();
      }
      now = until;
    },
    get timers() {
      return { set: timers.size, held: [...timers].filter((timer) => timer.held).length };
    },
    get armed() {
      return armed;
    },
  };
}
