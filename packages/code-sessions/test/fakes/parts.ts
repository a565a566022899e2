import type { ExecuteOptions, Outcome, Session, SessionEnd } from "../../src/index.js";
import { SessionError } from "../../src/index.js";
import type { OpenSessionOptions, SessionParts, StartedWorker } from "../../src/session-parts.js";
import { type Deferred, deferred } from "./deferred.js";

/** A worker of the fake. */
export interface FakeWorker extends StartedWorker {
  readonly number: number;
  readonly goes: Deferred<unknown>;
  isClosed: boolean;
}

/** A call that was handed over to a worker. */
export interface FakeRun {
  readonly worker: FakeWorker;
  readonly options: ExecuteOptions;
  readonly outcome: Deferred<Outcome>;
}

/** Sessions without Python: code "wait" goes on until the test ends it, other code ends at once with itself as its output. */
export interface FakeParts extends SessionParts<FakeWorker> {
  readonly workers: readonly FakeWorker[];
  readonly runs: readonly FakeRun[];
  readonly opened: readonly OpenSessionOptions<FakeWorker>[];
  readonly sessions: readonly Session[];
  /** The next calls are refused with these before they are handed over, in turn. */
  readonly refusals: unknown[];
  readonly startFaults: unknown[];
}

const text = (value: string) => ({ text: value, bytes: value.length, truncated: false });

export function outcomeOf(status: Outcome["status"], stdout = ""): Outcome {
  const none = { result: undefined, displays: [], displaysDropped: 0, fault: undefined, reason: undefined };
  const rest = { durationMs: 1, cpuMs: 1, count: 1, spill: undefined };
  return { status, stdout: text(stdout), stderr: text(""), output: text(stdout), ...none, ...rest };
}

export function createFakeParts(): FakeParts {
  const workers: FakeWorker[] = [];
  const runs: FakeRun[] = [];
  const opened: OpenSessionOptions<FakeWorker>[] = [];
  const sessions: Session[] = [];
  const refusals: unknown[] = [];
  const startFaults: unknown[] = [];

  const openSession = (options: OpenSessionOptions<FakeWorker>): Session => {
    const { worker, lease, owner, name, closing } = options;
    const ended = deferred<SessionEnd>();
    let end: SessionEnd | undefined;
    const finish = (reason: SessionEnd["reason"]): void => {
      if (end !== undefined) return;
      end = { reason, detail: "", at: 0 };
      for (const run of runs) if (run.worker === worker) run.outcome.resolve(outcomeOf("dead"));
      ended.resolve(end);
    };
    void worker.gone.then(() => finish("exit"));
    void lease.ended.then(() => finish("expired"));
    const stop = async (): Promise<void> => {
      finish(closing?.aborted === true ? "shutdown" : "stopped");
      await lease.release();
    };
    const session: Session = {
      id: name ?? "",
      owner,
      files: { list: async () => [], read: unused, write: unused, remove: unused },
      status: () => ({
        id: name ?? "",
        state: end === undefined ? "active" : end.reason === "stopped" ? "stopped" : "dead",
        busy: false,
        queued: 0,
        createdAt: 0,
        lastUsedAt: 0,
        executions: 0,
        lease: lease.record,
        enforced: [],
        isolated: true,
        end,
      }),
      async execute(call) {
        const refusal = refusals.shift();
        if (refusal !== undefined) throw refusal;
        if (end !== undefined) throw new SessionError("SESSION_DEAD", "it is dead", { end });
        const run: FakeRun = { worker, options: call, outcome: deferred() };
        runs.push(run);
        if (call.code !== "wait") run.outcome.resolve(outcomeOf("ok", call.code));
        return run.outcome.promise;
      },
      interrupt: () => false,
      variables: async () => [],
      renew: async () => lease.record,
      ended: ended.promise,
      stop,
      [Symbol.asyncDispose]: stop,
    };
    opened.push(options);
    sessions.push(session);
    return session;
  };
  return {
    workers,
    runs,
    opened,
    sessions,
    refusals,
    startFaults,
    openSession,
    async startWorker() {
      const fault = startFaults.shift();
      if (fault !== undefined) throw fault;
      const goes = deferred<unknown>();
      const close = async (): Promise<void> => {
        worker.isClosed = true;
        goes.resolve(undefined);
      };
      const worker: FakeWorker = {
        number: workers.length + 1,
        goes,
        isClosed: false,
        gone: goes.promise,
        close,
        [Symbol.asyncDispose]: close,
      };
      workers.push(worker);
      return worker;
    },
  };
}

async function unused(): Promise<never> {
  throw new Error("the fake has no files");
}
