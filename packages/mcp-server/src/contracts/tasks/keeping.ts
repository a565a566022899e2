import { hostileIds, idOf, recordOf, richRecords } from "./records.js";
import type { TaskCheck } from "./task-check.js";

/** What is created, read and removed. */
export const keeping: readonly TaskCheck[] = [
  {
    name: "create keeps a task: it can be read at once and is listed, as it was given, whatever JSON it is",
    async run({ trace, create, wantKept }) {
      for (const record of richRecords()) {
        trace.want("a new task is created", await create(record), "created");
        await wantKept(record);
      }
    },
  },
  {
    name: "update keeps a task as it was given, whatever JSON it is, and nothing of what it was before",
    async run({ trace, create, update, wantKept }) {
      for (const record of richRecords()) {
        const { taskId, version } = record;
        const before = recordOf(taskId, version - 1, "before", {
          status: "failed",
          error: { code: 1, message: "before" },
        });
        trace.want("a new task is created", await create(before), "created");
        trace.want("the expected version is replaced", await update(record, version - 1), true);
        await wantKept(record);
      }
    },
  },
  {
    name: "create rejects with TASK_EXISTS for an id that is there, and leaves the first task as it is",
    async run({ trace, create, update, wantAll }) {
      const first = recordOf("a");
      await create(first);
      trace.want("the same task again is refused", await create(first), "TASK_EXISTS");
      trace.want("another task of this id is refused", await create(recordOf("a", 1, "eve")), "TASK_EXISTS");
      await wantAll([first]);
      const second = recordOf("a", 2);
      trace.want("the expected version is replaced", await update(second, 1), true);
      trace.want("a task that was changed is still there", await create(recordOf("a", 1, "eve")), "TASK_EXISTS");
      await wantAll([second]);
    },
  },
  {
    name: "ids are told apart letter by letter",
    async run({ trace, create, remove, wantAll }) {
      const names = ["a", "A", "aa", "a_", "_a", "b", "0", "00", "a".repeat(32), `${"a".repeat(31)}A`];
      const records = names.map((name) => recordOf(name, 1, `task ${name}`));
      for (const record of records) trace.want("a new id is created", await create(record), "created");
      await wantAll(records);
      await remove(idOf("A"));
      await remove(idOf("a_"));
      await wantAll(records.filter(({ taskId }) => taskId !== idOf("A") && taskId !== idOf("a_")));
    },
  },
  {
    name: "remove forgets a task and no other; its id can be created again, and nothing of it comes back",
    async run({ trace, create, update, remove, wantGone, wantAll }) {
      const other = recordOf("b");
      await create(other);
      await create(recordOf("a", 1, "old", { statusMessage: "old" }));
      await remove(idOf("a"));
      await wantGone(idOf("a"));
      trace.want("what was removed has no version", await update(recordOf("a", 2), 1), false);
      await wantAll([other]);
      const again = recordOf("a", 1, "new");
      trace.want("a removed id is created", await create(again), "created");
      await wantAll([again, other]);
    },
  },
  {
    name: "remove may be called for what is not there, or not any more",
    async run({ create, remove, wantAll }) {
      await remove(idOf("a"));
      await create(recordOf("a"));
      for (let times = 0; times < 3; times += 1) await remove(idOf("a"));
      await wantAll([]);
    },
  },
  {
    name: "an id that nobody created is not there, whatever it is: nothing is read, replaced, made or removed",
    async run({ trace, create, read, update, remove, wantAll }) {
      const kept = [recordOf("a"), recordOf("abc")];
      for (const record of kept) await create(record);
      for (const taskId of hostileIds) {
        trace.want("an unknown id is undefined to read", [await read(taskId)], [undefined]);
        for (const version of [0, 1]) {
          const record = recordOf("x", version + 1, "x", { taskId });
          trace.want("an unknown id has no version to replace", await update(record, version), false);
        }
        await remove(taskId);
      }
      await wantAll(kept);
    },
  },
  {
    name: "what is kept is a copy: who changes what was given, read or listed changes nothing",
    async run({ trace, create, update, read, list, wantAll }) {
      const more = { status: "completed", result: { content: ["kept"] } } as const;
      const kept = recordOf("a", 2, "x", { status: "completed", result: { content: ["kept"] } });
      const given = { ...recordOf("a"), result: { content: ["first"] } };
      await create(given);
      given.result.content[0] = "changed";
      trace.want("what was given is kept", (await read(idOf("a")))?.result, { content: ["first"] });
      const next = { ...kept, ...more, result: { content: ["kept"] } };
      trace.want("the expected version is replaced", await update(next, 1), true);
      next.result.content[0] = "changed";
      for (const record of [await read(idOf("a")), ...(await list())]) {
        Object.assign(Object(record?.result), { content: [] });
        Object.assign(Object(record), { version: 1 });
      }
      await wantAll([kept]);
    },
  },
];
