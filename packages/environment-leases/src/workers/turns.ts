/** Lets so many pieces of work run at once; the others wait in order. */
export interface Turns {
  /** Runs the work when its turn has come. Aborting ends the wait, not the work. */
  take<Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value>;
}

export function createTurns(atOnce: number): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;
  const finish = (): void => {
    const next = waiting.shift();
    // Handed on, so that nobody who comes now can take it first.
    if (next === undefined) running -= 1;
    else next();
  };
  const wait = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(begin), 1);
        reject(signal?.reason);
      };
      waiting.push(begin);
      signal?.addEventListener("abort", leave, { once: true });
    });
  return {
    async take(work, signal) {
      signal?.throwIfAborted();
      if (running < atOnce) running += 1;
      else await wait(signal);
      try {
        return await work();
      } finally {
        finish();
      }
    },
  };
}
