// Stores of tasks that replace what they should not, or at once with others.
import { setImmediate } from "node:timers/promises";
import { type BrokenTaskStore, exists, parse } from "./sound.js";

export const brokenReplacing: readonly BrokenTaskStore[] = [
  {
    fault: "updates without comparing",
    checks: ["update is false for another version"],
    breakIt: (_, disk) => ({
      async update(record) {
        if (!disk.has(record.taskId)) return false;
        disk.set(record.taskId, JSON.stringify(record));
        return true;
      },
    }),
  },
  {
    fault: "takes a newer version for the expected one",
    checks: ["update is false for another version"],
    breakIt: (sound) => ({
      async update(record, version) {
        const found = await sound.read(record.taskId);
        return found !== undefined && found.version <= version ? sound.update(record, found.version) : false;
      },
    }),
  },
  {
    fault: "makes a task that is not there on update",
    checks: ["update is false for a task that is not there"],
    breakIt: (sound, disk) => ({
      async update(record, version) {
        if (disk.has(record.taskId)) return sound.update(record, version);
        disk.set(record.taskId, JSON.stringify(record));
        return true;
      },
    }),
  },
  {
    fault: "says nothing on update",
    checks: ["update replaces the version that was expected"],
    breakIt: (sound) => ({
      update: async (record, version) => JSON.parse(JSON.stringify((await sound.update(record, version)) ? 1 : 0)),
    }),
  },
  {
    fault: "compares, waits, then sets",
    checks: [
      "of many writers that expect the same version at once, one wins",
      "no change is lost",
      "calls at once for one task come out as if they had been made in some order",
    ],
    breakIt: (sound, disk) => ({
      async update(record, version) {
        if ((await sound.read(record.taskId))?.version !== version) return false;
        await setImmediate();
        if (disk.has(record.taskId)) disk.set(record.taskId, JSON.stringify(record));
        return true;
      },
    }),
  },
  {
    fault: "looks, waits, then creates",
    checks: ["of many that create one id at once, one does"],
    breakIt: (sound, disk) => ({
      async create(record) {
        if ((await sound.read(record.taskId)) !== undefined) throw exists();
        await setImmediate();
        disk.set(record.taskId, JSON.stringify(record));
      },
    }),
  },
  {
    fault: "lets an update bring back what was removed meanwhile",
    checks: ["a task that is removed while it is updated is gone"],
    breakIt(_, disk) {
      let last: Promise<unknown> = Promise.resolve();
      return {
        update(record, version) {
          const done = last.then(async () => {
            if (parse(disk.get(record.taskId))?.version !== version) return false;
            await setImmediate();
            await setImmediate();
            disk.set(record.taskId, JSON.stringify(record));
            return true;
          });
          last = done;
          return done;
        },
      };
    },
  },
  {
    fault: "writes all tasks as one file, the last writer wins",
    checks: ["tasks that are written at once do not disturb each other"],
    breakIt: (sound, disk) => ({
      async create(record) {
        const before = new Map(disk);
        await sound.create(record);
        const written = disk.get(record.taskId);
        disk.clear();
        for (const [id, text] of before) disk.set(id, text);
        if (written !== undefined) disk.set(record.taskId, written);
      },
    }),
  },
];
