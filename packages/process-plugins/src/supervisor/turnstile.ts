import { createGate, orAborted } from "../instance/waits.js";

/** Lets so many in at once; the others wait in the order in which they came. */
export interface Turnstile {
  /** Resolves with what lets the next one in; call it once. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<() => void>;
}

export function createTurnstile(places: number): Turnstile {
  let free = places;
  const waiting = new Set<() => void>();
  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  };
  return {
    enter: async (signal) => {
      signal.throwIfAborted();
      if (free > 0) {
        free -= 1;
        return leave;
      }
      const turn = createGate();
      const take = (): void => {
        waiting.delete(take);
        turn.open();
      };
      waiting.add(take);
      try {
        await orAborted(turn.passed, signal);
        return leave;
      } catch (error) {
        // The place may have been given to it in the same turn.
        if (!waiting.delete(take)) leave();
        throw error;
      }
    },
  };
}
