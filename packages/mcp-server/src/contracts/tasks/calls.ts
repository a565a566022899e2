import { isTaskStoreError, type TaskStoreErrorCode } from "../../errors.js";
import type { TaskRecord } from "../../tasks/record.js";
import type { TaskStore } from "../../tasks/store.js";
import { textOfJson } from "../json-text.js";
import type { Trace } from "../trace.js";
import { shortRecord } from "./records.js";

/** The calls of a store, each one a step of the trace. */
export interface TaskCalls {
  create(record: TaskRecord): Promise<"created" | TaskStoreErrorCode>;
  read(taskId: string): Promise<TaskRecord | undefined>;
  update(record: TaskRecord, expectedVersion: number): Promise<boolean | TaskStoreErrorCode>;
  remove(taskId: string): Promise<void>;
  list(): Promise<readonly TaskRecord[]>;
  /** Wants this task to be read and listed as it is. */
  wantKept(record: TaskRecord): Promise<void>;
  /** Wants a task with this id to be neither read nor listed. */
  wantGone(taskId: string): Promise<void>;
  /** Wants exactly these tasks, as they are. */
  wantAll(records: Iterable<TaskRecord>): Promise<void>;
}

/** Above, a list is taken for one without an end: no check keeps as many. */
const maxListed = 1_000;

export function createTaskCalls(store: TaskStore, trace: Trace): TaskCalls {
  const refusal = (...codes: readonly TaskStoreErrorCode[]) => {
    return (error: unknown): TaskStoreErrorCode | undefined =>
      isTaskStoreError(error) ? codes.find((code) => code === error.code) : undefined;
  };
  const read = (taskId: string): Promise<TaskRecord | undefined> =>
    trace.call(`read(${JSON.stringify(taskId).slice(0, 60)})`, () => store.read(taskId));
  const list = (): Promise<readonly TaskRecord[]> => trace.call("list()", () => collect(store));
  return {
    create: (record) =>
      trace.call(
        `create(${shortRecord(record)})`,
        async () => {
          await store.create(record);
          return "created" as const;
        },
        refusal("TASK_EXISTS", "TASK_STORE_FULL"),
      ),
    async update(record, expectedVersion) {
      const text = `update(${shortRecord(record)}, ${expectedVersion})`;
      const done = await trace.call(text, () => store.update(record, expectedVersion), refusal("TASK_STORE_FULL"));
      if (typeof done === "boolean" || done === "TASK_STORE_FULL") return done;
      return trace.fail(`${text} says whether it replaced the task: true or false`, done);
    },
    remove: (taskId) =>
      trace.call(`remove(${JSON.stringify(taskId).slice(0, 60)})`, async () => {
        await store.remove(taskId);
      }),
    read,
    list,
    async wantKept(record) {
      trace.want(`read gives the task ${record.taskId} as it was last stored`, await read(record.taskId), record);
      const listed = (await list()).filter(({ taskId }) => taskId === record.taskId);
      trace.want(`list has the task ${record.taskId} once, as it was last stored`, listed, [record]);
    },
    async wantGone(taskId) {
      trace.want(`there is no task ${taskId} to read`, [await read(taskId)], [undefined]);
      const listed = (await list()).filter((record) => record.taskId === taskId);
      trace.want(`list has no task ${taskId}`, listed, []);
    },
    async wantAll(records) {
      const wanted = sorted([...records]);
      for (const record of wanted)
        trace.want(`read gives the task ${record.taskId} as it was last stored`, await read(record.taskId), record);
      trace.want("list has every task that is there, each once, as it was last stored", sorted(await list()), wanted);
    },
  };
}

async function collect(store: TaskStore): Promise<TaskRecord[]> {
  const records: TaskRecord[] = [];
  for await (const record of store.list()) {
    records.push(record);
    if (records.length > maxListed) throw new Error(`the list goes on after ${maxListed} tasks`);
  }
  return records;
}

function sorted(records: readonly TaskRecord[]): TaskRecord[] {
  return [...records].sort(
    (one, other) => compare(one.taskId, other.taskId) || compare(textOfJson(one), textOfJson(other)),
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
