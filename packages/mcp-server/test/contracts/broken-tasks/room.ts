// Stores of tasks that go wrong when there is no room, or when they are opened again.
import { TaskStoreError } from "../../../src/tasks.js";
import { type BrokenTaskStore, exists, parse } from "./sound.js";

export const brokenRoom: readonly BrokenTaskStore[] = [
  {
    fault: "drops the oldest when it is full",
    checks: ["create rejects with TASK_STORE_FULL when there is no room"],
    breakIt: (sound, disk) => ({
      async create(record) {
        try {
          await sound.create(record);
        } catch (error) {
          if (!(error instanceof TaskStoreError) || error.code !== "TASK_STORE_FULL") throw error;
          const [oldest] = disk.keys();
          if (oldest !== undefined) disk.delete(oldest);
          await sound.create(record);
        }
      },
    }),
  },
  {
    fault: "keeps half of what it refuses",
    checks: ["create rejects with TASK_STORE_FULL when there is no room"],
    breakIt: (sound, disk) => ({
      create: (record) =>
        sound.create(record).catch((error: unknown) => {
          if (!disk.has(record.taskId)) disk.set(record.taskId, JSON.stringify({ ...record, result: undefined }));
          throw error;
        }),
    }),
  },
  {
    fault: "loses the old version when there is no room for the new one",
    checks: ["update rejects with TASK_STORE_FULL when there is no room"],
    breakIt: (sound, disk) => ({
      update: (record, version) =>
        sound.update(record, version).catch((error: unknown) => {
          disk.delete(record.taskId);
          throw error;
        }),
    }),
  },
  {
    fault: "counts a task that was removed",
    checks: ["what is removed makes room again"],
    breakIt(sound) {
      let created = 0;
      return {
        async create(record) {
          if (created > 30) throw new TaskStoreError("TASK_STORE_FULL", "no room");
          await sound.create(record);
          if (record.result !== undefined) created += 1;
        },
      };
    },
  },
  {
    fault: "acknowledges a creation before it is on the disk",
    checks: ["what create acknowledged is there when the store is opened again"],
    breakIt: (_, disk, isReopened) => {
      if (isReopened) disk.clear();
      return {};
    },
  },
  {
    fault: "acknowledges an update before it is on the disk",
    checks: [
      "what update acknowledged is there when the store is opened again",
      "writes at once that were acknowledged are there",
    ],
    breakIt: (_, disk, isReopened) => {
      for (const [taskId, text] of isReopened ? disk : [])
        disk.set(taskId, JSON.stringify({ ...parse(text), version: 1 }));
      return {};
    },
  },
  {
    fault: "looks for an id only among those that it created itself",
    checks: ["an id that was there before is TASK_EXISTS when the store is opened again"],
    breakIt(sound, disk) {
      const ids = new Set<string>();
      return {
        async create(record) {
          if (ids.has(record.taskId)) throw exists();
          ids.add(record.taskId);
          disk.delete(record.taskId);
          await sound.create(record);
        },
        async remove(taskId) {
          ids.delete(taskId);
          await sound.remove(taskId);
        },
      };
    },
  },
  {
    fault: "brings back what was removed when it is opened again",
    checks: ["what remove acknowledged is gone when the store is opened again"],
    breakIt: (sound, disk, isReopened, removed) => {
      for (const [taskId, text] of isReopened ? removed : []) disk.set(taskId, text);
      return {
        async remove(taskId) {
          const text = disk.get(taskId);
          await sound.remove(taskId);
          if (text !== undefined) removed.set(taskId, text);
        },
      };
    },
  },
];
