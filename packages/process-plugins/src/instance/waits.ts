import type { Scheduler } from "@berth/jsonrpc-framing";

/** A promise, and what resolves it. */
export interface Gate<T> {
  readonly passed: Promise<T>;
  open(value: T): void;
}

export function createGate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => {};
  const passed = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

/** Whether one of these settled in time; the timer ends with the wait. */
export function within(waits: readonly Promise<unknown>[], ms: number, scheduler: Scheduler): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = scheduler.after(ms, () => resolve(false));
    const settled = (): void => {
      timer.cancel();
      resolve(true);
    };
    for (const wait of waits) wait.then(settled, settled);
  });
}

/** The wait, or the signal's reason. What is waited for goes on. */
export async function orAborted<T>(wait: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return wait;
  signal.throwIfAborted();
  const aborted = createGate<"aborted">();
  const onAbort = (): void => aborted.open("aborted");
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const first = await Promise.race([wait.then((value) => ({ value })), aborted.passed]);
    if (first === "aborted") throw signal.reason;
    return first.value;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
