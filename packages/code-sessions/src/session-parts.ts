import type { Lease, Scheduler, WarmLease } from "@berth/environment-leases";
import type { Session } from "./session.js";
import type { SessionTerms } from "./session-terms.js";
import type { SessionEvent } from "./sessions.js";

/** A worker that is up, in an environment that has no owner yet or has one. Its bytes are an attacker's. */
export interface StartedWorker extends AsyncDisposable {
  /** Resolves when it is gone or its channel is broken; never rejects. Before a session is open over it, it is then of no use. */
  readonly gone: Promise<unknown>;
  close(): Promise<void>;
}

/** What one session is opened with. */
export interface OpenSessionOptions<W extends StartedWorker = StartedWorker> {
  /** Undefined for a call without a session. */
  readonly name: string | undefined;
  readonly owner: string;
  /** Active, and with this owner. The session releases it at its end. */
  readonly lease: Lease;
  /** Started in this lease's environment; never used before. */
  readonly worker: W;
  readonly terms: SessionTerms;
  /** Told `call.intent` (awaited before the hand-over; a rejection refuses the call) and `call.outcome`. */
  readonly record?: ((event: SessionEvent) => Promise<void> | void) | undefined;
  readonly onFault?: ((fault: unknown) => void) | undefined;
  /** Aborted when its host is shut down: a stop from then on is not its owner's. */
  readonly closing?: AbortSignal | undefined;
  /** Wall clock. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Monotonic clock and timers. Default: the system's. */
  readonly scheduler?: Scheduler | undefined;
}

/** What a set of sessions is made of. Ours are `worker/` and `open-session.ts`; tests of the set pass their own. */
export interface SessionParts<W extends StartedWorker = StartedWorker> {
  /** Rejects with `WORKER_NOT_STARTED`. */
  startWorker(
    environment: WarmLease["environment"],
    options: { readonly terms: SessionTerms; readonly signal?: AbortSignal | undefined },
  ): Promise<W>;
  /** The session ends with its lease, for the reason of the lease. Its status is no longer `active` once it has ended. */
  openSession(options: OpenSessionOptions<W>): Session;
}
