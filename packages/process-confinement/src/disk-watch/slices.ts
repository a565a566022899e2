import { setImmediate } from "node:timers/promises";

/** Entries between two breaths of the event loop: about a millisecond. */
export const sliceEntries = 256;

/** Runs to the end with a breath at each `yield`; an abort ends it there and lets it close what it opened. */
export async function inSlices<T>(steps: Generator<void, T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    for (;;) {
      signal?.throwIfAborted();
      const step = steps.next();
      if (step.done === true) return step.value;
      await setImmediate();
    }
  } finally {
    closeEarly(steps);
  }
}

// Does nothing when it has ended. Its type asks for a value of T, which an early end does not have.
function closeEarly(steps: Iterator<void, unknown>): void {
  steps.return?.(undefined);
}
