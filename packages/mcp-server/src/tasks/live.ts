import { type JsonObject, wireErrors } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";
import type { InputRequest } from "../server/questions.js";
import type { TaskRecord } from "./record.js";
import { freshKey, nextRecord, type TaskStep } from "./state.js";
import type { TaskStore } from "./store.js";

type Answers = Readonly<Record<string, JsonObject>>;

/** What the handler of a task can do with it. */
export interface TaskHandle {
  readonly taskId: string;
  progress(progress: number, total?: number, message?: string): void;
  /** Waits for answers under the same keys. They were checked when they came. */
  ask(requests: Readonly<Record<string, InputRequest>>): Promise<Answers>;
}

/** A task whose handler runs in this process. All changes of its record go through here, one after the other. */
export interface LiveTask extends TaskHandle {
  /** As it was last stored. */
  readonly record: TaskRecord;
  /**
   * Takes a step when those before it are stored: cancellation and end cannot both win. Undefined when the step is not legal then, or is no longer wanted.
   * Rejects, with nothing changed, when the store fails.
   */
  change(step: StepMaker): Promise<TaskRecord | undefined>;
  /** By the keys of `inputRequests`; those that are not asked for are left out. */
  answer(answers: Answers): Promise<void>;
}
/** A step for the record as it is when its turn comes. */
export type StepMaker = (record: TaskRecord) => TaskStep | undefined;

/** What a live task is made of. */
export interface LiveTaskOptions {
  readonly record: TaskRecord;
  readonly store: TaskStore;
  /** Aborted when the task ends before its handler. */
  readonly signal: AbortSignal;
  readonly maxQuestions: number;
  now(): number;
  /** A change was stored. `kind` is that of its step. */
  onStored(record: TaskRecord, kind: TaskStep["kind"]): void;
  /** Somebody else wrote the record: it is no longer ours. */
  onLost(): void;
}

interface Waiter {
  resolve(answer: JsonObject): void;
  reject(reason: unknown): void;
  readonly answer: Promise<JsonObject>;
}

export function createLiveTask(options: LiveTaskOptions): LiveTask {
  const { store, signal, maxQuestions, now } = options;
  const waiters = new Map<string, Waiter>();
  let record = options.record;
  let last: Promise<unknown> = Promise.resolve();
  let lastProgress = Number.NEGATIVE_INFINITY;
  let untold: string | undefined;

  const take = async (make: StepMaker): Promise<TaskRecord | undefined> => {
    const step = make(record);
    const next = step === undefined ? undefined : nextRecord(record, step, now());
    if (step === undefined || next === undefined) return undefined;
    if (!(await store.update(next, record.version))) {
      options.onLost();
      return undefined;
    }
    record = next;
    options.onStored(record, step.kind);
    return record;
  };
  const change = (make: StepMaker): Promise<TaskRecord | undefined> => {
    const taken = last.then(() => take(make));
    last = taken.catch(() => undefined); // whoever asked for the change is told
    return taken;
  };
  const abandon = (): void => {
    for (const waiter of waiters.values()) waiter.reject(signal.reason);
    waiters.clear();
  };
  signal.addEventListener("abort", abandon, { once: true });

  return {
    taskId: record.taskId,
    get record() {
      return record;
    },
    change,
    progress(progress, total, message) {
      if (!Number.isFinite(progress) || progress <= lastProgress) return;
      lastProgress = progress;
      const isQueued = untold !== undefined;
      untold = message ?? (total === undefined ? `${progress}` : `${progress}/${total}`);
      if (isQueued) return; // only the newest is worth a write
      const tell: StepMaker = () => {
        const statusMessage = untold;
        untold = undefined;
        return statusMessage === undefined ? undefined : { kind: "tell", statusMessage };
      };
      change(tell).catch(() => undefined); // a message is not worth a failure; the task's end will show that the store is broken
    },
    async ask(requests) {
      const asked = Object.entries(requests);
      const mine: [string, Waiter][] = [];
      const stored = await change((current) => {
        if (current.askedKeys.length + asked.length > maxQuestions) throw tooMany(maxQuestions);
        const questions = new Map<string, InputRequest>();
        for (const [key, request] of asked) {
          const wireKey = freshKey(current, key, questions);
          const waiter = createWaiter();
          questions.set(wireKey, request);
          waiters.set(wireKey, waiter);
          mine.push([key, waiter]);
        }
        return { kind: "ask", requests: Object.fromEntries(questions) };
      });
      signal.throwIfAborted();
      if (stored === undefined && asked.length > 0) throw new Error("the task has ended");
      const answers = mine.map(async ([key, { answer }]): Promise<[string, JsonObject]> => [key, await answer]);
      return Object.fromEntries(await Promise.all(answers));
    },
    async answer(answers) {
      let taken: string[] = [];
      await change(({ inputRequests }) => {
        taken = Object.keys(answers).filter((key) => Object.hasOwn(inputRequests, key));
        return taken.length === 0 ? undefined : { kind: "answer", keys: taken };
      });
      for (const key of taken) {
        const answer = answers[key];
        if (answer !== undefined) waiters.get(key)?.resolve(answer);
        waiters.delete(key);
      }
    },
  };
}

function createWaiter(): Waiter {
  let resolve: Waiter["resolve"] = () => undefined;
  let reject: Waiter["reject"] = () => undefined;
  const answer = new Promise<JsonObject>((onAnswer, onEnd) => {
    resolve = onAnswer;
    reject = onEnd;
  });
  answer.catch(() => undefined); // it may end before anybody waits
  return { answer, resolve, reject };
}

function tooMany(limit: number): RpcError {
  return new RpcError(wireErrors.internal, `more than ${limit} questions in one task`, { data: { limit } });
}
