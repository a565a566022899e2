import type { TaskStore } from "../../tasks/store.js";
import { idOf, recordOf } from "./records.js";
import type { TaskCheck, TaskTrial } from "./task-check.js";

const names: readonly string[] = Array.from({ length: 120 }, (_, at) => `t${at}`);

/** A trial that may hold a list open. */
export interface ListingTrial extends TaskTrial {
  readonly store: TaskStore;
}

export const listing: readonly TaskCheck<ListingTrial>[] = [
  {
    name: "list has nothing while nothing is there",
    async run({ wantAll, create, remove }) {
      await wantAll([]);
      await create(recordOf("a"));
      await remove(idOf("a"));
      await wantAll([]);
    },
  },
  {
    name: "list has each of many tasks once, as it was last stored, also when two lists are read at once",
    async run({ trace, create, update, list, wantAll }) {
      const records = names.map((name, at) => recordOf(name, at % 3 === 0 ? 2 : 1, name));
      for (const record of records) {
        await create({ ...record, version: 1 });
        if (record.version === 2) await update(record, 1);
      }
      const [one, other] = await Promise.all([list(), list()]);
      trace.want("each of two lists has all tasks", [one.length, other.length], [names.length, names.length]);
      await wantAll(records);
    },
  },
  {
    name: "list has each task once that is there from its begin to its end, also while tasks come, change and go",
    async run({ trace, store, create, update, remove }) {
      const ids = names.map(idOf);
      for (const name of [...names, "goes"]) await create(recordOf(name));
      const listed = await trace.call("list(), with changes between its tasks", async () => {
        const seen: string[] = [];
        for await (const { taskId, version } of store.list()) {
          seen.push(taskId);
          if (taskId === idOf("goes") || taskId === idOf("late")) continue;
          if (seen.length > 2 * names.length) break;
          await update(recordOf(taskId, version + 1), version);
          if (seen.length === 10) await create(recordOf("late"));
          if (seen.length === 20) await remove(idOf("goes"));
        }
        return seen;
      });
      const stayed = listed.filter((id) => id !== idOf("late") && id !== idOf("goes"));
      trace.want("the tasks that stayed are listed once each", [...stayed].sort(), [...ids].sort());
      trace.want("a task is not listed twice", listed.length, new Set(listed).size);
    },
  },
  {
    name: "a list that is left in the middle costs nothing: the store goes on",
    async run({ trace, store, create, update, wantAll }) {
      for (const name of ["a", "b", "c"]) await create(recordOf(name));
      for (let times = 0; times < 5; times += 1) {
        await trace.call("list(), left after its first task", async () => {
          for await (const record of store.list()) return record.taskId;
          return undefined;
        });
      }
      trace.want("the expected version is replaced", await update(recordOf("a", 2), 1), true);
      await wantAll([recordOf("a", 2), recordOf("b"), recordOf("c")]);
    },
  },
];
