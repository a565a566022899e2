import type { EnvironmentEnd } from "../environment.js";

/** Whether an environment has ended, and who wants to know. Not a promise: each `then` on one would be kept as long as it. */
export interface Ending {
  readonly end: EnvironmentEnd | undefined;
  /** Calls once, at once when it has ended already. Returns how to stop listening. */
  watch(listener: (end: EnvironmentEnd) => void): () => void;
}

export function watchEnding(ended: Promise<EnvironmentEnd>): Ending {
  const listeners = new Set<(end: EnvironmentEnd) => void>();
  let end: EnvironmentEnd | undefined;
  void ended.then((how) => {
    end = how;
    for (const listener of listeners) listener(how);
    listeners.clear();
  });
  return {
    get end() {
      return end;
    },
    watch(listener) {
      if (end !== undefined) listener(end);
      else listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
