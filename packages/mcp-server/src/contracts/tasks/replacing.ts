import { idOf, recordOf } from "./records.js";
import type { TaskCheck } from "./task-check.js";

const twenty: readonly number[] = Array.from({ length: 20 }, (_, at) => at);

/** Compare and set, one after the other and at once. */
export const replacing: readonly TaskCheck[] = [
  {
    name: "update replaces the version that was expected",
    async run({ trace, create, update, wantAll }) {
      const other = recordOf("b");
      await create(other);
      await create(recordOf("a"));
      for (let version = 2; version < 12; version += 1) {
        const next = recordOf("a", version, `step ${version}`);
        trace.want("the expected version is replaced", await update(next, version - 1), true);
        await wantAll([next, other]);
      }
    },
  },
  {
    name: "update is false for another version, older or newer, and changes nothing",
    async run({ trace, create, update, wantAll }) {
      const kept = recordOf("a", 10, "kept");
      await create(kept);
      for (const expected of [9, 11, 1, 0, -1, 100]) {
        const next = recordOf("a", expected + 1, "not expected");
        trace.want(`version ${expected} is not there, 10 is`, await update(next, expected), false);
        trace.want(
          "only the expected version counts, not that of the record",
          await update(recordOf("a", 11, "not expected"), expected),
          false,
        );
        await wantAll([kept]);
      }
    },
  },
  {
    name: "update is false for a task that is not there, and makes none",
    async run({ trace, update, wantGone }) {
      for (const version of [0, 1, 2]) {
        trace.want("there is nothing to replace", await update(recordOf("a", version + 1), version), false);
        await wantGone(idOf("a"));
      }
    },
  },
  {
    name: "of many writers that expect the same version at once, one wins, and it is the one that is kept",
    async run({ trace, create, update, wantAll }) {
      await create(recordOf("a"));
      for (let version = 1; version < 5; version += 1) {
        const nexts = twenty.map((at) => recordOf("a", version + 1, `writer ${at}`));
        const done = await Promise.all(nexts.map((next) => update(next, version)));
        const winners = nexts.filter((_, at) => done[at] === true);
        trace.want("of 20 updates at once that expect one version, one is true", winners.length, 1);
        await wantAll(winners);
      }
    },
  },
  {
    name: "of many that create one id at once, one does, and it is the one that is kept",
    async run({ trace, create, wantAll }) {
      const records = twenty.map((at) => recordOf("a", 1, `creator ${at}`));
      const done = await Promise.all(records.map((record) => create(record)));
      trace.want(
        "of 20 creations of one id at once, one succeeds and the others are TASK_EXISTS",
        done.filter((one) => one === "TASK_EXISTS").length,
        19,
      );
      await wantAll(records.filter((_, at) => done[at] === "created"));
    },
  },
  {
    name: "no change is lost: who reads, changes and tries again until it is true finds all changes in the end",
    async run({ trace, create, read, update }) {
      await create(recordOf("a"));
      const write = async (mark: string): Promise<void> => {
        for (let tries = 0; tries < 100; tries += 1) {
          const found = await read(idOf("a"));
          if (found === undefined) return trace.fail("the task stays", found);
          const next = { ...found, version: found.version + 1, askedKeys: [...found.askedKeys, mark] };
          if ((await update(next, found.version)) === true) return;
        }
        trace.fail("one of 8 writers at a time gets through", `${mark} did not in 100 tries`);
      };
      const marks = twenty.slice(0, 8).map((at) => `mark ${at}`);
      await Promise.all(marks.map(write));
      const after = await read(idOf("a"));
      trace.want("8 writers, 8 versions more", after?.version, 9);
      trace.want("the mark of each writer is kept", [...(after?.askedKeys ?? [])].sort(), marks);
    },
  },
  {
    name: "tasks that are written at once do not disturb each other",
    async run({ trace, create, update, remove, wantAll }) {
      const write = async (at: number): Promise<void> => {
        trace.want("a new id is created", await create(recordOf(`t${at}`, 1, `${at}`)), "created");
        trace.want("its version is replaced", await update(recordOf(`t${at}`, 2, `${at}`), 1), true);
        if (at % 4 === 0) await remove(idOf(`t${at}`));
      };
      await Promise.all(twenty.map(write));
      await wantAll(twenty.filter((at) => at % 4 !== 0).map((at) => recordOf(`t${at}`, 2, `${at}`)));
    },
  },
  {
    name: "a task that is removed while it is updated is gone",
    async run({ create, update, remove, wantGone }) {
      for (const isUpdateFirst of [true, false]) {
        for (let times = 0; times < 5; times += 1) {
          await create(recordOf("a"));
          const [one, other] = [() => update(recordOf("a", 2), 1), () => remove(idOf("a"))];
          await Promise.all(isUpdateFirst ? [one(), other()] : [other(), one()]);
          await wantGone(idOf("a"));
        }
      }
    },
  },
];
