// Stores of tasks that list something else than what is there, or never answer.
import type { TaskRecord } from "../../../src/tasks.js";
import { type BrokenTaskStore, parse } from "./sound.js";

export const brokenListing: readonly BrokenTaskStore[] = [
  {
    fault: "lists a page",
    checks: ["list has each of many tasks once"],
    breakIt: (sound) => ({
      async *list() {
        let count = 0;
        for await (const record of sound.list()) if (count++ < 100) yield record;
      },
    }),
  },
  {
    fault: "pages a list by how many were before",
    checks: ["list has each task once that is there from its begin to its end"],
    breakIt: (_, disk) => ({
      async *list() {
        for (let at = 0; at < disk.size; at += 1) {
          const record = parse([...disk.values()][disk.size - 1 - at]);
          if (record !== undefined) yield record;
        }
      },
    }),
  },
  {
    fault: "lists what an index had at the beginning",
    checks: ["update keeps a task as it was given"],
    breakIt(sound) {
      const index: TaskRecord[] = [];
      return {
        async create(record) {
          await sound.create(record);
          index.push(JSON.parse(JSON.stringify(record)));
        },
        async *list() {
          for (const old of index) {
            const isThere = (await sound.read(old.taskId)) !== undefined;
            if (isThere) yield old;
          }
        },
      };
    },
  },
  {
    fault: "is locked until a list was read to its end",
    checks: ["a list that is left in the middle costs nothing"],
    breakIt(sound) {
      let isLocked = false;
      return {
        async *list() {
          isLocked = true;
          yield* sound.list();
          isLocked = false;
        },
        update: (record, version) => (isLocked ? new Promise<boolean>(() => undefined) : sound.update(record, version)),
      };
    },
  },
  {
    fault: "lists without an end",
    checks: ["list has each of many tasks once"],
    breakIt: (sound) => ({
      async *list() {
        for (;;) yield* sound.list();
      },
    }),
  },
  {
    fault: "never answers",
    checks: ["create keeps a task: it can be read at once"],
    breakIt: () => ({ create: () => new Promise(() => undefined) }),
  },
  {
    fault: "goes by the version that a removed task had",
    checks: ["whatever is done in whatever order"],
    breakIt(sound) {
      const versions = new Map<string, number>();
      return {
        async update(record, version) {
          if ((versions.get(record.taskId) ?? version) !== version) return false;
          const done = await sound.update(record, version);
          if (done) versions.set(record.taskId, record.version);
          return done;
        },
      };
    },
  },
  {
    fault: "lists a record of its own",
    checks: ["list has nothing while nothing is there"],
    breakIt: (sound) => ({
      async *list() {
        yield JSON.parse('{"taskId":"schema","version":3}');
        yield* sound.list();
      },
    }),
  },
];
