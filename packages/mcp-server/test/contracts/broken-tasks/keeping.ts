// Stores of tasks that keep something else than what they were given, or under another id.
import { setImmediate } from "node:timers/promises";
import type { TaskRecord, TaskStore } from "../../../src/tasks.js";
import { type BrokenTaskStore, exists, parse } from "./sound.js";

const mapped = (sound: TaskStore, change: (taskId: string) => string): Partial<TaskStore> => {
  const back = async (taskId: string): Promise<TaskRecord | undefined> => {
    const found = await sound.read(change(taskId));
    return found === undefined ? undefined : { ...found, taskId };
  };
  return {
    create: (record) => sound.create({ ...record, taskId: change(record.taskId) }),
    read: back,
    update: (record, version) => sound.update({ ...record, taskId: change(record.taskId) }, version),
    remove: (taskId) => sound.remove(change(taskId)),
  };
};

export const brokenKeeping: readonly BrokenTaskStore[] = [
  {
    fault: "writes without being on the disk when create resolves",
    checks: ["create keeps a task: it can be read at once"],
    breakIt: (sound) => ({
      async create(record) {
        void setImmediate()
          .then(() => setImmediate())
          .then(() => sound.create(record).catch(() => undefined));
      },
    }),
  },
  {
    fault: "cuts long texts",
    checks: ["whatever JSON it is"],
    breakIt: (_, disk) => ({
      async update(record, version) {
        if (parse(disk.get(record.taskId))?.version !== version) return false;
        disk.set(
          record.taskId,
          JSON.stringify(record, (_, value) => (typeof value === "string" ? value.slice(0, 65_535) : value)),
        );
        return true;
      },
    }),
  },
  {
    fault: "loses members named __proto__",
    checks: ["create keeps a task: it can be read at once"],
    breakIt: (sound) => ({
      create: (record) => sound.create({ ...record, result: record.result && Object.assign({}, record.result) }),
    }),
  },
  {
    fault: "merges an update into what was there",
    checks: ["and nothing of what it was before"],
    breakIt: (sound) => ({
      update: async (record, version) =>
        sound.update({ ...(await sound.read(record.taskId)), ...JSON.parse(JSON.stringify(record)) }, version),
    }),
  },
  {
    fault: "replaces an existing task on create",
    checks: ["create rejects with TASK_EXISTS"],
    breakIt: (_, disk) => ({
      async create(record) {
        disk.set(record.taskId, JSON.stringify(record));
      },
    }),
  },
  {
    fault: "rejects an existing id with an error of its own",
    checks: ["create rejects with TASK_EXISTS"],
    breakIt: (sound) => ({
      create: (record) => sound.create(record).catch(() => Promise.reject(new Error("UNIQUE constraint failed"))),
    }),
  },
  {
    fault: "compares ids without case",
    checks: ["ids are told apart letter by letter"],
    breakIt: (sound) => mapped(sound, (taskId) => taskId.toLowerCase()),
  },
  {
    fault: "cuts ids at 31 characters",
    checks: ["ids are told apart letter by letter"],
    breakIt: (sound) => mapped(sound, (taskId) => taskId.slice(0, 31)),
  },
  {
    fault: "removes by pattern",
    checks: ["an id that nobody created is not there"],
    breakIt: (_, disk) => ({
      async remove(taskId) {
        const pattern = new RegExp(
          `^${taskId
            .replace(/[^\w%]/g, "\\$&")
            .replaceAll("_", ".")
            .replaceAll("%", ".*")}$`,
        );
        for (const id of disk.keys()) if (pattern.test(id)) disk.delete(id);
      },
    }),
  },
  {
    fault: "keeps tasks in a plain object",
    checks: ["an id that nobody created is not there"],
    breakIt: (sound) => ({
      async read(taskId) {
        return (await sound.read(taskId)) ?? Reflect.get({}, taskId);
      },
    }),
  },
  {
    fault: "throws for an id that is no file name",
    checks: ["an id that nobody created is not there"],
    breakIt: (sound) => ({
      async read(taskId) {
        if (taskId.includes("\u0000")) throw new TypeError("the path must be without null bytes");
        return sound.read(taskId);
      },
    }),
  },
  {
    fault: "remove rejects for what is not there",
    checks: ["remove may be called for what is not there"],
    breakIt: (sound, disk) => ({
      async remove(taskId) {
        if (!disk.has(taskId)) throw new Error("ENOENT");
        await sound.remove(taskId);
      },
    }),
  },
  {
    fault: "remembers removed ids",
    checks: ["its id can be created again"],
    breakIt(sound) {
      const removed = new Set<string>();
      return {
        async create(record) {
          if (removed.has(record.taskId)) throw exists();
          await sound.create(record);
        },
        async remove(taskId) {
          removed.add(taskId);
          await sound.remove(taskId);
        },
      };
    },
  },
  {
    fault: "gives out what it keeps",
    checks: ["what is kept is a copy"],
    breakIt(sound) {
      const cache = new Map<string, TaskRecord | undefined>();
      const forget = <T>(taskId: string, done: T): T => {
        cache.delete(taskId);
        return done;
      };
      return {
        async read(taskId) {
          const found = cache.get(taskId) ?? (await sound.read(taskId));
          cache.set(taskId, found);
          return found;
        },
        update: async (record, version) => forget(record.taskId, await sound.update(record, version)),
        remove: async (taskId) => forget(taskId, await sound.remove(taskId)),
      };
    },
  },
];
