import { type LeaseEndReason, systemScheduler } from "@berth/environment-leases";
import { createCallEvents } from "./call-events.js";
import { createCallLine } from "./call-line.js";
import { type SessionEnd, SessionError } from "./errors.js";
import { type ExecuteTerms, readExecuteTerms } from "./execute-terms.js";
import { keepLeaseUsed } from "./keep-lease-used.js";
import type { Outcome } from "./outcome.js";
import { createOutcomeMemory } from "./outcome-memory.js";
import { runCall } from "./run-call.js";
import type { ExecuteOptions, Session, SessionStatus } from "./session.js";
import { explainEnd } from "./session-end.js";
import type { OpenSessionOptions } from "./session-parts.js";
import { createSharedCalls } from "./shared-calls.js";
import type { RunningCall, Worker } from "./worker/worker.js";
import { createWorkerQueries } from "./worker/worker-queries.js";

/** One session over one lease and the worker in it: one machine over line, memory and end, hence its length. */
export function openSession(options: OpenSessionOptions<Worker>): Session {
  const { name, owner, lease, worker, terms, now = Date.now, scheduler = systemScheduler } = options;
  const id = name ?? lease.id;
  const line = createCallLine(terms.maxQueued);
  const memory = createOutcomeMemory(terms);
  const shared = createSharedCalls<Outcome>();
  const events = createCallEvents(options);
  const stopping = new AbortController();
  const createdAt = now();
  let lastUsedAt = createdAt;
  let count = 0;
  let running: { readonly call: RunningCall; readonly over: Promise<unknown> } | undefined;
  let stopped: { readonly lease: LeaseEndReason; readonly end: SessionEnd } | undefined;
  let end: SessionEnd | undefined;
  let released: Promise<void> | undefined;

  const guarded = (call: () => void): void => {
    try {
      call();
    } catch (fault) {
      options.onFault?.(fault);
    }
  };
  const use = (): void => {
    lastUsedAt = now();
    guarded(() => lease.touch()); // its store may be closed already
  };
  const refusal = (): SessionError => {
    const known = end ?? stopped?.end;
    if (known === undefined || known.reason === "stopped") {
      return new SessionError("SESSION_STOPPED", `session '${id}' was stopped`, { end: known });
    }
    const { reason, detail } = known;
    return new SessionError("SESSION_DEAD", `session '${id}' has ended: ${reason} (${detail})`, { end: known });
  };
  const checkOpen = async (): Promise<void> => {
    if (stopping.signal.aborted) throw refusal();
    if (worker.isOpen && end === undefined) return;
    await ended;
    throw refusal();
  };
  const release = (reason: LeaseEndReason): Promise<void> => {
    released ??= lease.release(reason);
    // Whoever stops the session is told too; after a crash nobody may ask.
    released.catch((fault: unknown) => options.onFault?.(fault));
    return released;
  };
  const finish = async (): Promise<SessionEnd> => {
    const gone = await worker.gone;
    release(stopped?.lease ?? "crash");
    const told = stopped?.end ?? (await explainEnd(gone, lease, scheduler));
    end = { ...told, at: now() };
    line.close(refusal());
    return end;
  };
  const ended = finish();

  const run = async (asked: ExecuteTerms, abandoned: AbortSignal | undefined, number: number): Promise<Outcome> => {
    const stopKeeping = keepLeaseUsed(lease, use, scheduler);
    const over = runCall({
      ...{ worker, scheduler, ended, count: number, interruptMs: terms.interruptMs },
      asked: { ...asked, onOutput: (event) => guarded(() => asked.onOutput?.(event)) },
      abandoned: abandoned === undefined ? [stopping.signal] : [abandoned, stopping.signal],
      onStart(call) {
        running = { call, over: call.report };
      },
    });
    const outcome = { ...(await over), restriction: lease.restriction };
    running = undefined;
    stopKeeping();
    events.outcome(number, outcome);
    return outcome;
  };
  const handOver = async (asked: ExecuteTerms, abandoned: AbortSignal | undefined): Promise<Outcome> => {
    const leave = await line.enter(abandoned);
    try {
      await checkOpen();
      const number = count + 1;
      await events.intent(number, asked.code);
      abandoned?.throwIfAborted();
      await checkOpen();
      count = number;
      return await run(asked, abandoned, number);
    } finally {
      leave();
    }
  };
  const execute = async (call: ExecuteOptions): Promise<Outcome> => {
    call.signal?.throwIfAborted();
    const asked = readExecuteTerms(call, terms);
    const start = (): Promise<Outcome> => shared.start((abandoned) => handOver(asked, abandoned));
    const key = call.idempotencyKey;
    // Without a key nobody else can come to wait for it.
    const outcome = key === undefined ? handOver(asked, call.signal) : memory.once(key, call.code, start);
    const trim = (): void => {
      while (memory.bytes > terms.maxOutcomeBytes && memory.forgetOldest());
    };
    outcome.then(trim, () => undefined);
    return shared.follow(outcome, call.signal);
  };
  const status = (): SessionStatus => ({
    ...{ id, createdAt, lastUsedAt, end, executions: count, busy: running !== undefined, queued: line.queued },
    state: end === undefined ? "active" : end.reason === "stopped" ? "stopped" : "dead",
    lease: lease.record,
    enforced: lease.enforced,
    isolated: lease.isolated,
    restriction: lease.restriction,
  });
  const endInOrder = async (): Promise<void> => {
    const { lease, ...told } = options.closing?.aborted === true ? byShutdown : byOwner;
    stopped = { lease, end: { ...told, at: now() } };
    const why = refusal();
    line.close(why);
    stopping.abort(why);
    await running?.over;
    await worker.close();
    await ended;
    await released;
  };
  let ending: Promise<void> | undefined;
  const stop = (): Promise<void> => (ending ??= endInOrder());
  const queries = createWorkerQueries({ worker, terms, scheduler, checkOpen, use });

  return {
    id,
    owner,
    files: queries.files,
    variables: queries.variables,
    status,
    execute,
    interrupt() {
      running?.call.interrupt();
      return running !== undefined;
    },
    async renew(asked) {
      await checkOpen();
      use();
      return lease.renew(asked);
    },
    ended,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Why it was stopped, as its owner is told and as its lease says. */
const byOwner = { reason: "stopped", detail: "stopped by its owner", lease: "released" } as const;
const byShutdown = { reason: "shutdown", detail: "its host was shut down", lease: "shutdown" } as const;
