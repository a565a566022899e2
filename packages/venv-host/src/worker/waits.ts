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
