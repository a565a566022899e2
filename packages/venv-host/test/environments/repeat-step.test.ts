import type { Scheduler } from "@berth/jsonrpc-framing";
import { expect, it } from "vitest";
import { repeatSteps } from "../../src/environments/repeat-step.js";

/** A clock that goes when the test says so. */
function manualTime(): Scheduler & { pass(ms: number): void; readonly waiting: () => number } {
  let nowMs = 0;
  const timers = new Map<object, { atMs: number; callback: () => void }>();
  return {
    now: () => nowMs,
    after: (delayMs, callback) => {
      const key = {};
      timers.set(key, { atMs: nowMs + delayMs, callback });
      return { cancel: () => void timers.delete(key), hold: () => {} };
    },
    pass: (ms) => {
      const endMs = nowMs + ms;
      for (; nowMs < endMs; nowMs += 1_000) {
        for (const [key, { atMs, callback }] of timers) {
          if (atMs > nowMs + 1_000) continue;
          timers.delete(key);
          nowMs += 1_000;
          callback();
          nowMs -= 1_000;
        }
      }
    },
    waiting: () => timers.size,
  };
}

it("a step is told at once, and again every 10 s with its time, until the next or the end", () => {
  const told: string[] = [];
  const time = manualTime();
  const steps = repeatSteps((step) => told.push(step), time);
  steps.tell("creating the environment");
  time.pass(9_000);
  steps.tell("installing with pip 23.2.1");
  time.pass(25_000);
  steps.tell("checking what was installed");
  time.pass(5_000);
  steps.end();
  time.pass(60_000);
  expect(told).toEqual([
    "creating the environment",
    "installing with pip 23.2.1",
    "installing with pip 23.2.1 (10 s)",
    "installing with pip 23.2.1 (20 s)",
    "checking what was installed",
  ]);
  expect(time.waiting()).toBe(0);
});

it("nothing is left when whoever is told ends it meanwhile", () => {
  const time = manualTime();
  const steps = repeatSteps((step) => {
    if (step.endsWith("s)")) steps.end();
  }, time);
  steps.tell("installing");
  time.pass(60_000);
  expect(time.waiting()).toBe(0);
});
