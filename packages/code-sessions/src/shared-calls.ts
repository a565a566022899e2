import { untilAborted } from "./until-aborted.js";

/** Calls that several may wait for. One that nobody waits for any more is given up. */
export interface SharedCalls<T> {
  /** Starts one. `abandoned` is aborted with the reason of the last who gave up. */
  start(run: (abandoned: AbortSignal) => Promise<T>): Promise<T>;
  /** Waits for it, no longer than the signal allows. */
  follow(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T>;
}

export function createSharedCalls<T>(): SharedCalls<T> {
  const followers = new Map<Promise<T>, { count: number; readonly abandon: AbortController }>();
  return {
    start(run) {
      const abandon = new AbortController();
      const shared = run(abandon.signal);
      followers.set(shared, { count: 0, abandon });
      const forget = (): void => void followers.delete(shared);
      shared.then(forget, forget);
      return shared;
    },
    async follow(shared, signal) {
      const interest = followers.get(shared);
      if (interest !== undefined) interest.count += 1;
      try {
        return await untilAborted(shared, signal);
      } finally {
        if (interest !== undefined) {
          interest.count -= 1;
          if (interest.count === 0 && followers.has(shared)) interest.abandon.abort(signal?.reason);
        }
      }
    },
  };
}
