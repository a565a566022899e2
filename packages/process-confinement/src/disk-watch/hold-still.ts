import type { Freezer } from "../limits/freezer.js";
import { boundSignal } from "../waits/bound-signal.js";

/** Who is longer in the kernel, such as in a write of gigabytes, is not waited for. */
const standstillMs = 1_000;
/** How long a sandbox is held still at once: what takes longer to look at was not seen. */
const maxFrozenMs = 10_000;

/**
 * Runs something while nothing of the sandbox does, and lets it go. `standsStill` is false where a thread did not come back from
 * the kernel in time: it stands still before it does.
 * @throws What the freezer and `run` throw, an error after 10 s. Also the signal's reason.
 */
export async function holdStill<T>(
  freezer: Freezer,
  signal: AbortSignal,
  run: (standsStill: boolean, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const bound = boundSignal(maxFrozenMs, () => new Error(`it takes longer than ${maxFrozenMs} ms`), signal);
  try {
    return await run(await freezer.freeze(standstillMs, bound.signal), bound.signal);
  } finally {
    freezer.thaw();
    bound.release();
  }
}

/** A freezer, and for how many milliseconds it has held the sandbox. */
export interface TimedFreezer extends Freezer {
  readonly heldMs: () => number;
}

export function timed(freezer: Freezer): TimedFreezer {
  let heldMs = 0;
  let since: number | undefined;
  return {
    ...freezer,
    freeze: (timeoutMs, signal) => {
      since = performance.now();
      return freezer.freeze(timeoutMs, signal);
    },
    thaw: () => {
      freezer.thaw();
      heldMs += since === undefined ? 0 : performance.now() - since;
      since = undefined;
    },
    heldMs: () => heldMs,
  };
}
