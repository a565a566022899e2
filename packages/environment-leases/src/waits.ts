import type { Scheduler } from "./scheduler.js";

/** The promise, or a rejection with `signal.reason` if that comes first. Whatever the promise stands for goes on. */
export function abortable<T>(wait: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    wait.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Whether the promise settles within the time. */
export function settlesWithin(wait: Promise<unknown>, timeoutMs: number, scheduler: Scheduler): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = scheduler.after(timeoutMs, () => resolve(false));
    const settled = (): void => {
      timer.cancel();
      resolve(true);
    };
    wait.then(settled, settled);
  });
}
