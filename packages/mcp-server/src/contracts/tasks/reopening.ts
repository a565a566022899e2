import { idOf, recordOf, richRecords } from "./records.js";
import type { TaskCheck, TaskTrial } from "./task-check.js";

/** A trial whose store can be opened again, as after its process was killed. */
export interface ReopeningTrial extends TaskTrial {
  reopen(): Promise<ReopeningTrial>;
}

/** What a durable store has acknowledged is there again. */
export const reopening: readonly TaskCheck<ReopeningTrial>[] = [
  {
    name: "what create acknowledged is there when the store is opened again",
    async run({ create, reopen }) {
      for (const record of richRecords()) {
        await create(record);
        await (await reopen()).wantKept(record);
      }
      await (await reopen()).wantAll(richRecords());
    },
  },
  {
    name: "what update acknowledged is there when the store is opened again, and nothing of the version before",
    async run({ trace, create, update, reopen }) {
      await create(recordOf("a", 1, "first", { statusMessage: "first" }));
      await update(recordOf("a", 2, "second"), 1);
      const again = await reopen();
      await again.wantAll([recordOf("a", 2, "second")]);
      trace.want("the old version is not there", await again.update(recordOf("a", 2, "third"), 1), false);
      trace.want("the stored version is replaced", await again.update(recordOf("a", 3, "third"), 2), true);
      await (await again.reopen()).wantAll([recordOf("a", 3, "third")]);
    },
  },
  {
    name: "what remove acknowledged is gone when the store is opened again",
    async run({ trace, create, update, remove, reopen }) {
      for (const name of ["a", "b"]) await create(recordOf(name));
      await update(recordOf("a", 2), 1);
      await remove(idOf("a"));
      const again = await reopen();
      await again.wantGone(idOf("a"));
      await again.wantAll([recordOf("b")]);
      trace.want("a removed id is created", await again.create(recordOf("a")), "created");
    },
  },
  {
    name: "an id that was there before is TASK_EXISTS when the store is opened again",
    async run({ trace, create, reopen }) {
      await create(recordOf("a"));
      const again = await reopen();
      trace.want("the id is there", await again.create(recordOf("a", 1, "eve")), "TASK_EXISTS");
      await again.wantAll([recordOf("a")]);
    },
  },
  {
    name: "writes at once that were acknowledged are there when the store is opened again",
    async run({ create, update, remove, reopen }) {
      const names = Array.from({ length: 20 }, (_, at) => `t${at}`);
      await Promise.all(names.map((name) => create(recordOf(name))));
      await Promise.all(names.map((name, at) => (at % 2 === 0 ? update(recordOf(name, 2), 1) : remove(idOf(name)))));
      await (await reopen()).wantAll(names.filter((_, at) => at % 2 === 0).map((name) => recordOf(name, 2)));
    },
  },
];
