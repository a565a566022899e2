import { ConfinementError } from "../errors.js";
import { boundSignal } from "../waits/bound-signal.js";
import { orAborted } from "../waits/or-aborted.js";

/** Bounds all waits of one start by its timeout and its caller's signal. */
export interface StartBound {
  /** Aborts when the bound comes. */
  readonly signal: AbortSignal;
  /** The promise, unless the bound comes first: then rejects with the signal's reason or `START_TIMEOUT`. */
  wait<T>(promise: Promise<T>): Promise<T>;
  throwIfOver(): void;
  /** Ends the timer and the listener. */
  release(): void;
}

export function boundStart(timeoutMs: number, signal: AbortSignal | undefined): StartBound {
  const over = (): Error => new ConfinementError("START_TIMEOUT", `the sandbox was not started within ${timeoutMs} ms`);
  const bound = boundSignal(timeoutMs, over, signal);
  return {
    signal: bound.signal,
    wait: (promise) => orAborted(promise, bound.signal),
    throwIfOver: () => bound.signal.throwIfAborted(),
    release: bound.release,
  };
}
