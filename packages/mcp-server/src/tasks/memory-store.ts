import { TaskStoreError } from "../errors.js";
import { type LimitRanges, limitReader } from "../limit-reader.js";
import type { TaskRecord } from "./record.js";
import type { TaskStore } from "./store.js";

/** What `createMemoryTaskStore` accepts. */
export interface MemoryTaskStoreOptions {
  /** All tasks together, as JSON, in bytes: 1_024 to 68_719_476_736. Default 256 MiB. Above: `TASK_STORE_FULL`. */
  readonly maxBytes?: number | undefined;
}

const ranges = {
  maxBytes: { min: 1_024, max: 68_719_476_736, preset: 268_435_456 },
} as const satisfies LimitRanges<MemoryTaskStoreOptions>;

/** One task, as text: nobody who holds a record that was read can change what is stored. */
interface Kept {
  readonly version: number;
  readonly text: string;
  readonly bytes: number;
}

/**
 * A store that lives and dies with its process.
 * @throws {RangeError} for a limit out of its range, {TypeError} for one that does not exist.
 */
export function createMemoryTaskStore(options?: MemoryTaskStoreOptions): TaskStore {
  const maxBytes = limitReader(options, ranges)("maxBytes");
  const tasks = new Map<string, Kept>();
  let total = 0;
  const put = (record: TaskRecord, old: Kept | undefined): void => {
    const text = JSON.stringify(record);
    const bytes = Buffer.byteLength(text);
    const after = total - (old?.bytes ?? 0) + bytes;
    if (after > maxBytes) {
      throw new TaskStoreError("TASK_STORE_FULL", `${after} bytes of tasks are over the limit of ${maxBytes}`);
    }
    tasks.set(record.taskId, { version: record.version, text, bytes });
    total = after;
  };
  return {
    async create(record) {
      if (tasks.has(record.taskId)) throw new TaskStoreError("TASK_EXISTS", "there is a task with this id");
      put(record, undefined);
    },
    async read(taskId) {
      return parse(tasks.get(taskId));
    },
    async update(record, expectedVersion) {
      const old = tasks.get(record.taskId);
      if (old?.version !== expectedVersion) return false;
      put(record, old);
      return true;
    },
    async remove(taskId) {
      total -= tasks.get(taskId)?.bytes ?? 0;
      tasks.delete(taskId);
    },
    async *list() {
      for (const kept of [...tasks.values()]) {
        const record = parse(kept);
        if (record !== undefined) yield record;
      }
    },
  };
}

function parse(kept: Kept | undefined): TaskRecord | undefined {
  return kept === undefined ? undefined : JSON.parse(kept.text);
}
