import type { Scheduler } from "@berth/environment-leases";

/** The value if it comes in time. The promise must not reject. */
export function within<T>(promise: Promise<T>, timeoutMs: number, scheduler: Scheduler): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = scheduler.after(timeoutMs, () => resolve(undefined));
    void promise.then((value) => {
      timer.cancel();
      resolve(value);
    });
  });
}
