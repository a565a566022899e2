import type { Leases, Scheduler } from "@berth/environment-leases";
import { SessionError } from "./errors.js";
import type { SessionParts, StartedWorker } from "./session-parts.js";
import type { SessionTerms } from "./session-terms.js";
import type { WarmWorker } from "./warm-shelf.js";

export interface WarmStarter<W extends StartedWorker> {
  readonly leases: Leases;
  readonly terms: SessionTerms;
  readonly scheduler: Scheduler;
  readonly startWorker: SessionParts<W>["startWorker"];
  /** Ends every start. */
  readonly signal: AbortSignal;
}

/** An environment without owner and a worker in it, within `startMs`. A start that fails leaves nothing behind. */
export async function startWarm<W extends StartedWorker>(
  profile: string,
  { leases, terms, scheduler, startWorker, signal: closing }: WarmStarter<W>,
): Promise<WarmWorker<W>> {
  closing.throwIfAborted();
  const bound = new AbortController();
  const { signal } = bound;
  const late = (): void => bound.abort(notUp(`it was not up after ${terms.startMs} ms`));
  const timer = scheduler.after(terms.startMs, late);
  const onClose = (): void => bound.abort(closing.reason);
  closing.addEventListener("abort", onClose, { once: true });
  try {
    const lease = await leases.warm({ profile, signal });
    try {
      const worker = await startWorker(lease.environment, { terms, signal });
      return { lease, worker, isGone: false };
    } catch (error) {
      // Its end is confirmed by the leases, which try again; the first fault is what matters here.
      await lease.close().catch(() => undefined);
      throw error;
    }
  } finally {
    timer.cancel();
    closing.removeEventListener("abort", onClose);
  }
}

function notUp(why: string): SessionError {
  return new SessionError("WORKER_NOT_STARTED", `no worker could be started: ${why}`, {
    cure: "see whether the machine is overloaded, or raise startMs",
  });
}
