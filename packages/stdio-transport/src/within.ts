import type { Scheduler } from "@berth/jsonrpc-framing";

/** Whether one of the promises settles within the time. */
export function within(
  promises: readonly Promise<unknown>[],
  timeoutMs: number,
  scheduler: Scheduler,
): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = scheduler.after(timeoutMs, () => resolve(false));
    const settled = (): void => {
      timer.cancel();
      resolve(true);
    };
    for (const promise of promises) promise.then(settled, settled);
  });
}

/** Waits. */
export function pause(delayMs: number, scheduler: Scheduler): Promise<void> {
  return new Promise((resolve) => void scheduler.after(delayMs, resolve));
}
