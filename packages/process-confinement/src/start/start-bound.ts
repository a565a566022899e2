import { ConfinementError } from "../errors.js";
import { orAborted } from "../waits/or-aborted.js";

/** Bounds all waits of one start by its timeout and its caller's signal. */
export interface StartBound {
  /** The promise, unless the bound comes first: then rejects with the signal's reason or `START_TIMEOUT`. */
  wait<T>(promise: Promise<T>): Promise<T>;
  throwIfOver(): void;
  /** Ends the timer and the listener. */
  release(): void;
}

export function boundStart(timeoutMs: number, signal: AbortSignal | undefined): StartBound {
  const bound = new AbortController();
  const timer = setTimeout(() => {
    bound.abort(new ConfinementError("START_TIMEOUT", `the sandbox was not started within ${timeoutMs} ms`));
  }, timeoutMs);
  const onAbort = (): void => bound.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  return {
    wait: (promise) => orAborted(promise, bound.signal),
    throwIfOver: () => bound.signal.throwIfAborted(),
    release: () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    },
  };
}
