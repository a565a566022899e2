import type { Scheduler } from "./plugin-host.js";

/** An abort that follows others and can be given by hand. */
export interface LinkedAbort {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Stops following; the listeners would otherwise stay for the life of the longest signal. */
  release(): void;
}

/** Aborts when one of the signals does, with its reason. */
export function linkAbort(followed: readonly (AbortSignal | undefined)[]): LinkedAbort {
  const controller = new AbortController();
  const links = followed.flatMap((signal) => {
    if (signal === undefined) return [];
    const pass = (): void => controller.abort(signal.reason);
    if (signal.aborted) pass();
    else signal.addEventListener("abort", pass, { once: true });
    return [() => signal.removeEventListener("abort", pass)];
  });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      for (const unlink of links) unlink();
    },
  };
}

/** The work's outcome, or the signal's reason when that comes first; the work itself goes on unheard. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** What bounds a wait. */
export interface InTime {
  readonly scheduler: Scheduler;
  readonly timeoutMs: number;
  /** The error of a wait that was too long. */
  readonly late: () => Error;
  readonly followed: readonly (AbortSignal | undefined)[];
}

/** The work's outcome, within its time; the work is told when that is over, and not waited for. */
export async function inTime<T>(work: (signal: AbortSignal) => Promise<T>, options: InTime): Promise<T> {
  const linked = linkAbort(options.followed);
  const timer = options.scheduler.after(options.timeoutMs, () => linked.abort(options.late()));
  try {
    return await untilAborted((async () => work(linked.signal))(), linked.signal);
  } finally {
    timer.cancel();
    linked.release();
  }
}
