import type { Scheduler } from "@berth/jsonrpc-framing";

/** Whether the promise settles within the time. */
export function within(promise: Promise<unknown>, timeoutMs: number, scheduler: Scheduler): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = scheduler.after(timeoutMs, () => resolve(false));
    const settled = (): void => {
      timer.cancel();
      resolve(true);
    };
    promise.then(settled, settled);
  });
}

/** Waits; rejects with the signal's reason when that is aborted first. */
export function pause(delayMs: number, scheduler: Scheduler, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      timer.cancel();
      reject(signal.reason);
    };
    const timer = scheduler.after(delayMs, () => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

/** A promise and what resolves it. */
export interface Gate<T> {
  readonly passed: Promise<T>;
  open(value: T): void;
}

export function createGate<T>(): Gate<T> {
  let open: (value: T) => void = () => undefined;
  const passed = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}
