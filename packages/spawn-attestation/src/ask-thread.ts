import type { Worker } from "node:worker_threads";
import { AttestationError } from "./errors.js";
import type { JobKind } from "./jobs.js";
import type { JobMessage, JobReply } from "./measure-worker.js";

/** How long a job may take, and what ends it. */
export interface JobBounds {
  readonly signals: readonly AbortSignal[];
  readonly timeoutMs: number;
}

/**
 * Gives a thread one job and waits for its reply. Rejects on abort with the signal's reason, and when the thread dies;
 * the thread is then not to be used again.
 * @throws {AttestationError} `MEASURE_TIMEOUT`, `MEASURE_FAILED`
 */
export function askThread<K extends JobKind>(
  worker: Worker,
  message: JobMessage<K>,
  { signals, timeoutMs }: JobBounds,
): Promise<JobReply<K>> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      leave();
      worker.off("message", answered).off("error", failed).off("exit", exited);
      act();
    };
    const answered = (reply: JobReply<K>): void => settle(() => resolve(reply));
    const failed = (error: unknown): void => settle(() => reject(died("failed", error)));
    const exited = (code: number): void => settle(() => reject(died(`ended with code ${code}`)));
    const timer = setTimeout(() => settle(() => reject(tooSlow(timeoutMs))), timeoutMs);
    const leave = onAbort(signals, (reason) => settle(() => reject(reason)));
    worker.on("message", answered).on("error", failed).on("exit", exited);
    worker.postMessage(message);
  });
}

/** Calls back once, when the first of some signals aborts; gives back how to stop listening. */
export function onAbort(signals: readonly AbortSignal[], callback: (reason: unknown) => void): () => void {
  const listeners = signals.map((signal) => ({ signal, listener: () => callback(signal.reason) }));
  for (const { signal, listener } of listeners) signal.addEventListener("abort", listener, { once: true });
  return () => {
    for (const { signal, listener } of listeners) signal.removeEventListener("abort", listener);
  };
}

function died(how: string, cause?: unknown): AttestationError {
  return new AttestationError("MEASURE_FAILED", `the measuring thread ${how}`, {
    cause,
    advice:
      "look whether memory is short and whether dist/measure-worker.js is there; leave data out with measureIgnore",
  });
}

function tooSlow(timeoutMs: number): AttestationError {
  return new AttestationError("MEASURE_TIMEOUT", `measuring took more than ${timeoutMs} ms`, {
    advice: "leave folders out with measureIgnore, raise limits.timeoutMs, or look whether a file system hangs",
  });
}
