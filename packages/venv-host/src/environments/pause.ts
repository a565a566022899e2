import type { Scheduler } from "@berth/jsonrpc-framing";

/** Resolves after some milliseconds; rejects with the signal's reason. */
export function pause(ms: number, scheduler: Scheduler, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = (): void => {
      timer.cancel();
      reject(signal.reason);
    };
    const timer = scheduler.after(ms, () => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    signal.addEventListener("abort", abort, { once: true });
  });
}
