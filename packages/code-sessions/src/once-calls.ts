import { mayTryAgain, toSessionFault } from "./acquire-fault.js";
import { readExecuteTerms } from "./execute-terms.js";
import { createFairSlots, type FairSlots } from "./fair-slots.js";
import type { Outcome } from "./outcome.js";
import { createOwnerMemories } from "./owner-memories.js";
import type { ExecuteOptions, Session } from "./session.js";
import type { SessionTerms } from "./session-terms.js";
import { createSharedCalls } from "./shared-calls.js";

/** Calls that belong to no session. */
export interface OnceCalls {
  execute(owner: string, options: ExecuteOptions): Promise<Outcome>;
  counts(): ReturnType<FairSlots["counts"]>;
  /** Refuses what waits and what comes; resolves when the workers of what runs are gone. */
  close(reason: unknown): Promise<void>;
}

export interface OnceCallsOptions {
  readonly terms: SessionTerms;
  /** A session without name in a fresh worker, good for so many milliseconds. */
  readonly open: (owner: string, ttlMs: number, signal: AbortSignal) => Promise<Session>;
  readonly onFault: (fault: unknown) => void;
}

/** Over the longest call: for the start, the queue of the processor and the end. */
const spareMs = 60_000;
const maxTtlMs = 86_400_000;
const maxAttempts = 3;

export function createOnceCalls({ terms, open, onFault }: OnceCallsOptions): OnceCalls {
  const slots = createFairSlots({ places: terms.maxSessionless, queue: terms.maxSessionlessQueued });
  const memories = createOwnerMemories(terms);
  const leaving = new Set<Promise<void>>();
  const running = new Set<Session>();

  /** The place is given back when the worker is gone: until then it costs what a worker costs. */
  const dismiss = (session: Session, giveBack: () => void): void => {
    const left = session
      .stop()
      .catch(onFault)
      .finally(() => {
        leaving.delete(left);
        running.delete(session);
        giveBack();
      });
    leaving.add(left);
  };
  const runIn = async (session: Session, options: ExecuteOptions, abandoned: AbortSignal): Promise<Outcome> => {
    abandoned.throwIfAborted();
    // Not by the signal of `execute`, whose outcome would be lost for those who ask again with the same key.
    const onAbandoned = (): void => void session.stop().catch(onFault);
    abandoned.addEventListener("abort", onAbandoned, { once: true });
    try {
      return await session.execute({ ...options, signal: undefined, idempotencyKey: undefined });
    } finally {
      abandoned.removeEventListener("abort", onAbandoned);
    }
  };
  const run = async (owner: string, options: ExecuteOptions, abandoned: AbortSignal): Promise<Outcome> => {
    const ttlMs = Math.min((options.timeoutMs ?? terms.defaultCallMs) + spareMs, maxTtlMs);
    for (let attempt = 1; ; attempt += 1) {
      const giveBack = await slots.enter(owner, abandoned);
      let session: Session;
      try {
        session = await open(owner, ttlMs, abandoned);
      } catch (fault) {
        giveBack();
        throw toSessionFault(fault, "SESSIONS_BUSY");
      }
      running.add(session);
      try {
        return await runIn(session, options, abandoned);
      } catch (fault) {
        // What rejects was never handed over: another worker may do it.
        if (attempt >= maxAttempts || abandoned.aborted || !mayTryAgain(fault)) throw fault;
      } finally {
        dismiss(session, giveBack);
      }
    }
  };

  const shared = createSharedCalls<Outcome>();
  return {
    async execute(owner, options) {
      const { idempotencyKey, code, signal } = options;
      signal?.throwIfAborted();
      readExecuteTerms(options, terms);
      const start = (): Promise<Outcome> => shared.start((abandoned) => run(owner, options, abandoned));
      const outcome = idempotencyKey === undefined ? start() : memories.of(owner).once(idempotencyKey, code, start);
      if (idempotencyKey !== undefined) outcome.then(memories.trim, () => undefined);
      return shared.follow(outcome, signal);
    },
    counts: slots.counts,
    async close(reason) {
      slots.close(reason);
      for (const session of running) session.stop().catch(onFault);
      while (leaving.size > 0 || running.size > 0) {
        await Promise.allSettled([...leaving, ...[...running].map(({ ended }) => ended)]);
      }
    },
  };
}
