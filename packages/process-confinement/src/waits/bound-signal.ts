/** A signal that aborts with another one, or after a time. */
export interface BoundSignal {
  readonly signal: AbortSignal;
  /** Ends the timer and the listener. */
  release(): void;
}

/** As `AbortSignal.any` and `AbortSignal.timeout`, of which neither ends before its time. */
export function boundSignal(timeoutMs: number, over: () => Error, signal: AbortSignal | undefined): BoundSignal {
  const bound = new AbortController();
  const timer = setTimeout(() => bound.abort(over()), timeoutMs);
  const onAbort = (): void => bound.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  return {
    signal: bound.signal,
    release: () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    },
  };
}
