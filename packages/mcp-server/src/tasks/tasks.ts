import { type JsonObject, type Scheduler, wireErrors } from "@berth/jsonrpc-framing";
import { isTaskStoreError, RpcError } from "../errors.js";
import { wireError } from "../server/answer.js";
import { type RequestContext, toldOf } from "../server/context.js";
import { InputRequired } from "../server/input.js";
import type { Observation } from "../server/observers.js";
import type { BoundTool } from "../server/registry.js";
import { attempt, tell } from "../tell.js";
import { within } from "../within.js";
import { endOfAbort, endOfResult, endOfThrow, notStored, type TaskEnd } from "./ending.js";
import { createKnownTasks } from "./known.js";
import type { TaskBounds } from "./limits.js";
import { createLiveTask, type LiveTask } from "./live.js";
import { expiresAt, type TaskRecord, toSeed } from "./record.js";
import { recoverTasks } from "./recovery.js";
import { createRunningCalls } from "./running.js";
import type { BoundTask, FailedTask } from "./settings.js";
import type { TaskStep } from "./state.js";
import type { TaskStore } from "./store.js";

/** Told of each change of a task; one that is only a new message may be left out. Resolves when it is done with it, if it needs time. */
export type TaskWatcher = (record: TaskRecord, isMessage: boolean) => Promise<void> | undefined;

/** The tasks of a server. */
export interface Tasks<P> {
  /** Runs a tool's handler and resolves with the result of the call: the task, or what the handler returned when it started none. */
  run(context: RequestContext<P>, tool: TaskTool<P>, perform: () => Promise<JsonObject>): Promise<JsonObject>;
  /** As it is stored; undefined when there is none, or its time is over. @throws {RpcError} -32603 when its state could not be stored. */
  read(taskId: string): Promise<TaskRecord | undefined>;
  /** The task, when its handler runs in this process. */
  live(taskId: string): LiveTask | undefined;
  cancel(taskId: string): Promise<void>;
  /** Returns what ends the watching. */
  watch(taskId: string, watcher: TaskWatcher): () => void;
  /** Aborts what runs, stores it as failed, and takes no more. The store is not closed. */
  close(): Promise<void>;
}
/** A tool whose calls can become tasks. */
export type TaskTool<P> = BoundTool<P> & { readonly task: BoundTask };

/** What the tasks of a server are made of. */
export interface TasksOptions<P> {
  readonly store: TaskStore;
  readonly bounds: TaskBounds;
  readonly observation: Observation<P>;
  readonly scheduler: Scheduler;
  now(): number;
  principalId(principal: P): string;
  onUnexpectedError(error: unknown, task: FailedTask): void;
}

/** A live task and the call that it came from. */
interface Run<P> {
  readonly task: LiveTask;
  readonly context: RequestContext<P>;
  /** Its handler has ended. */
  release(): void;
  /** What the client cannot be told: the store failed when the task ended. */
  isBroken: boolean;
}

/** One machine over the life of tasks, hence its length. */
export function createTasks<P>(options: TasksOptions<P>): Tasks<P> {
  const { store, bounds, observation, now } = options;
  const runs = new Map<string, Run<P>>();
  const running = createRunningCalls(bounds.maxRunningBytes);
  const watchers = new Map<string, Set<TaskWatcher>>();
  const working = new Set<Promise<unknown>>(); // creations and removals: `close` waits for them
  let closed = false;
  let ready: Promise<void> | undefined;

  const during = async <T>(work: Promise<T>): Promise<T> => {
    working.add(work);
    try {
      return await work;
    } finally {
      working.delete(work);
    }
  };
  const report = (error: unknown, { taskId, tool }: TaskRecord): void => {
    tell(options.onUnexpectedError, error, { taskId, tool }); // when that fails as well, the observers know of the failure
  };
  /** Told once for each task: when it ends, or is removed before that. */
  const ended = (
    { task, context }: Run<P>,
    { outcome, errorCode, unexpected }: Pick<TaskEnd, "outcome" | "errorCode" | "unexpected">,
  ): void => {
    if (!runs.delete(task.taskId) || observation.isIdle) return;
    const { createdAt: startedAt } = task.record;
    const stage = { taskId: task.taskId, stage: "ended" } as const;
    const durationMs = now() - startedAt;
    const failure = unexpected?.error;
    observation.emit({ ...toldOf(context), outcome, errorCode, failure, startedAt, durationMs, task: stage });
  };
  const expire = async (taskId: string): Promise<void> => {
    const run = runs.get(taskId);
    run?.context.interrupt(new Error("the time of the task is over"));
    if (run !== undefined) ended(run, { outcome: "cancelled" });
    watchers.delete(taskId);
    await store.remove(taskId);
    known.forget(taskId);
  };
  const known = createKnownTasks(bounds, {
    now,
    scheduler: options.scheduler,
    // A store that fails to remove is asked again later; until then nobody can read the task.
    onExpired: (taskId) => void during(expire(taskId)).catch(() => undefined),
  });
  const prepare = (): Promise<void> => {
    ready ??= recoverTasks(store, known, now).catch((error: unknown) => {
      ready = undefined; // the next request tries again
      throw error;
    });
    return ready;
  };
  prepare().catch(() => undefined); // whoever needs it is told

  const create = async (context: RequestContext<P>, tool: TaskTool<P>): Promise<Run<P>> => {
    const release = running.hold(context.params);
    try {
      return await createHeld(context, tool, release);
    } catch (error) {
      release();
      throw error;
    }
  };
  const createHeld = async (
    context: RequestContext<P>,
    { name, task }: TaskTool<P>,
    release: () => void,
  ): Promise<Run<P>> => {
    const { ttlMs, pollIntervalMs } = task;
    const createdAt = now();
    const base = { taskId: newTaskId(), version: 1, owner: options.principalId(context.principal), tool: name };
    const times = { createdAt, updatedAt: createdAt, ttlMs, pollIntervalMs };
    const record: TaskRecord = { ...base, status: "working", ...times, askedKeys: [], inputRequests: {} };
    known.reserve(record.taskId, record.owner, expiresAt(record));
    try {
      await store.create(record);
    } catch (error) {
      known.forget(record.taskId);
      if (isTaskStoreError(error)) throw new RpcError(wireErrors.internal, "there is no room for another task");
      throw error;
    }
    if (context.interrupted || closed || !known.has(record.taskId)) {
      // Nobody will know of it, or its time was over before it was stored: it is not begun.
      await expire(record.taskId);
      context.signal.throwIfAborted();
      throw closed
        ? closing()
        : new RpcError(wireErrors.internal, "the time of the task was over before it was stored");
    }
    return begin(context, record, release);
  };
  const begin = (context: RequestContext<P>, record: TaskRecord, release: () => void): Run<P> => {
    const task = createLiveTask({
      record,
      store,
      signal: context.signal,
      maxQuestions: bounds.maxQuestions,
      now,
      onStored(stored, kind) {
        const failed = (error: unknown): void => report(error, stored);
        for (const watcher of watchers.get(stored.taskId) ?? []) {
          const telling = attempt(() => watcher(stored, kind === "tell"), failed);
          if (telling instanceof Promise) void during(telling).catch(() => undefined); // it was reported
        }
      },
      onLost() {
        context.interrupt(new Error("the task was changed by somebody else"));
        ended(run, { outcome: "failure" });
      },
    });
    const run: Run<P> = { task, context, release, isBroken: false };
    context.task = task;
    runs.set(record.taskId, run);
    return run;
  };

  /** Stores how a task has ended; without the result when that cannot be kept. */
  const finish = async (run: Run<P>, end: TaskEnd): Promise<void> => {
    const { task } = run;
    if (end.unexpected !== undefined) report(end.unexpected.error, task.record);
    try {
      if ((await task.change(() => end.step)) !== undefined) ended(run, end);
    } catch (error) {
      report(error, task.record);
      try {
        await task.change(() => notStored.step);
        ended(run, { ...notStored, unexpected: { error } });
      } catch {
        run.isBroken = true; // it was reported; the task says so when it is asked for, until its time is over
      }
    }
  };
  const follow = (run: Run<P>, outcome: Promise<JsonObject>): JsonObject => {
    const seed = toSeed(run.task.record);
    outcome.then(run.release, run.release);
    outcome
      .then(
        (result) => finish(run, endOfResult(result, bounds.maxResultBytes)),
        (error) => finish(run, run.context.interrupted ? endOfAbort : endOfThrow(error, bounds.maxResultBytes)),
      )
      .catch((fault: unknown) => report(fault, run.task.record)); // nobody awaits it: what is left would end the process
    return { resultType: "task", ...seed };
  };
  const stop = async ({ task, context }: Run<P>, step: TaskStep, reason: Error): Promise<boolean> => {
    // Queued before the handler hears of it, so that what it then throws comes too late.
    const changing = task.change(() => step);
    context.interrupt(reason);
    return (await changing) !== undefined;
  };

  return {
    async run(context, tool, perform) {
      if (closed) throw closing();
      await prepare();
      if (context.interrupted) context.signal.throwIfAborted();
      let starting: Promise<Run<P>> | undefined;
      const start = async (): Promise<Run<P>> => {
        if (closed) throw closing();
        starting ??= during(create(context, tool));
        return starting;
      };
      if (tool.task.begins === "at-once") return follow(await start(), perform());
      const started = new Promise<void>((resolve) => {
        context.startTask = async () => {
          // The call is going to be answered with questions: it cannot be answered with a task as well.
          if (context.pendingInput !== undefined) throw new InputRequired("the client is asked first");
          await start();
          resolve();
        };
      });
      const outcome = perform();
      await Promise.race([started, outcome.catch(() => undefined)]);
      const run = await starting?.catch(() => undefined);
      return run === undefined ? outcome : follow(run, outcome);
    },
    async read(taskId) {
      await prepare();
      if (!known.has(taskId)) return undefined;
      const run = runs.get(taskId);
      if (run?.isBroken === true) {
        throw new RpcError(wireErrors.internal, "what came of the task could not be stored");
      }
      // Of one that runs: what the store has acknowledged, never what it is about to.
      const record = run?.task.record ?? (await store.read(taskId));
      return record === undefined || expiresAt(record) <= now() ? undefined : record;
    },
    live: (taskId) => runs.get(taskId)?.task,
    async cancel(taskId) {
      const run = runs.get(taskId);
      if (run === undefined) return;
      const step: TaskStep = { kind: "cancel", statusMessage: "Cancelled by the client" };
      if (await stop(run, step, new Error("cancelled by the client"))) ended(run, { outcome: "cancelled" });
    },
    watch(taskId, watcher) {
      const others = watchers.get(taskId) ?? new Set();
      watchers.set(taskId, others.add(watcher));
      return () => {
        others.delete(watcher);
        if (others.size === 0 && watchers.get(taskId) === others) watchers.delete(taskId);
      };
    },
    async close() {
      closed = true;
      known.close();
      await Promise.allSettled([...working, ready]);
      const error = wireError(wireErrors.internal, "the server was closed while the task ran");
      const step: TaskStep = { kind: "fail", error, statusMessage: "The server was closed" };
      const stopping = [...runs.values()].map(async (run) => {
        try {
          if (await stop(run, step, new Error("the server is closing"))) ended(run, { outcome: "cancelled" });
        } catch (fault) {
          report(fault, run.task.record);
        }
      });
      await Promise.all(stopping);
      // An authorizer that is asked whether a listener may hear of the end may take its time, but not for ever.
      if (working.size > 0) await within(tellingMs, Promise.allSettled([...working]));
      watchers.clear();
    },
  };
}

/** How long `close` waits until listeners were told. */
const tellingMs = 1_000;

/** 192 random bits: nobody finds another's task by guessing. */
function newTaskId(): string {
  return process.getBuiltinModule("node:crypto").randomBytes(24).toString("base64url");
}

function closing(): RpcError {
  return new RpcError(wireErrors.internal, "the server is closing");
}
