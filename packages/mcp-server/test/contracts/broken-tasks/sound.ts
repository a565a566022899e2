import { setImmediate } from "node:timers/promises";
import { type TaskRecord, type TaskStore, TaskStoreError } from "../../../src/tasks.js";

/** What outlives a store of the map: its "disk". */
export type Disk = Map<string, string>;

const maxDiskBytes = 100_000;
export const parse = (text: string | undefined): TaskRecord | undefined =>
  text === undefined ? undefined : JSON.parse(text);
export const exists = (): TaskStoreError => new TaskStoreError("TASK_EXISTS", "there is a task with this id");
const bytesOf = (disk: Disk): number => [...disk.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** A store without a fault over this disk: a map of texts, whose calls take a turn of the event loop, as those of a database do. `isSmall` bounds it. */
export function soundStore(disk: Disk, isSmall = false): TaskStore {
  const write = (record: TaskRecord): void => {
    const text = JSON.stringify(record);
    const old = Buffer.byteLength(disk.get(record.taskId) ?? "");
    if (isSmall && bytesOf(disk) - old + Buffer.byteLength(text) > maxDiskBytes)
      throw new TaskStoreError("TASK_STORE_FULL", "no room");
    disk.set(record.taskId, text);
  };
  return {
    async create(record) {
      await setImmediate();
      if (disk.has(record.taskId)) throw exists();
      write(record);
    },
    async read(taskId) {
      await setImmediate();
      return parse(disk.get(taskId));
    },
    async update(record, expectedVersion) {
      await setImmediate();
      if (parse(disk.get(record.taskId))?.version !== expectedVersion) return false;
      write(record);
      return true;
    },
    async remove(taskId) {
      await setImmediate();
      disk.delete(taskId);
    },
    async *list() {
      await setImmediate();
      for (const taskId of [...disk.keys()]) {
        const record = parse(disk.get(taskId));
        if (record !== undefined) yield record;
      }
    },
  };
}

/** One fault: what differs from the sound store, and parts of the names of the checks that it is for. */
export interface BrokenTaskStore {
  readonly fault: string;
  readonly checks: readonly string[];
  readonly breakIt: (sound: TaskStore, disk: Disk, isReopened: boolean, removed: Disk) => Partial<TaskStore>;
}
