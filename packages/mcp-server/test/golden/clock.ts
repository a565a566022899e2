import { startsAt } from "./server.js";

/** A clock that goes only when it is told to. */
export interface Clock {
  now(): number;
  pass(milliseconds: number): void;
}

export function createClock(): Clock {
  let time = startsAt;
  return {
    now: () => time,
    pass(milliseconds) {
      time += milliseconds;
    },
  };
}

/** Waits for something that other events bring about. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  const signal = AbortSignal.timeout(10_000);
  while (!isSo()) {
    if (signal.aborted) throw new Error(`there was no ${what}`);
    await new Promise(setImmediate);
  }
}

/**
 * For rewriting only: resolves when nothing has changed for a while. What is recorded is read by a person, and played again without any waiting.
 */
export async function untilQuiet(size: () => number): Promise<void> {
  for (let before = -1, silent = 0; silent < 3; ) {
    await new Promise((resolve) => setTimeout(resolve, 8));
    silent = size() === before ? silent + 1 : 0;
    before = size();
  }
}
