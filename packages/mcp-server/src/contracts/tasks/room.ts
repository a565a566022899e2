import type { TaskRecord } from "../../tasks/record.js";
import { idOf, recordOf } from "./records.js";
import type { TaskCheck, TaskTrial } from "./task-check.js";

/** What a store with little room is given at most: a MiB, in tasks of 8 KiB. */
const maxTasks = 128;
const filling = { statusMessage: "x".repeat(1_000), status: "completed", result: { text: "x".repeat(7_000) } } as const;
const large = { status: "completed", result: { text: "x".repeat(1_048_576) } } as const;

async function fill({ trace, create }: TaskTrial): Promise<TaskRecord[]> {
  const kept: TaskRecord[] = [];
  for (let at = 0; at < maxTasks; at += 1) {
    const record = recordOf(`t${at}`, 1, "filling", filling);
    if ((await create(record)) === "TASK_STORE_FULL") return kept;
    kept.push(record);
  }
  return trace.fail(
    "a store with little room refuses within a MiB (TASK_STORE_FULL)",
    `it kept ${maxTasks} tasks of 8 KiB`,
  );
}

/** What happens when there is no room, in a store that has little. */
export const room: readonly TaskCheck[] = [
  {
    name: "create rejects with TASK_STORE_FULL when there is no room, and changes nothing",
    async run(trial) {
      const kept = await fill(trial);
      trial.trace.want("there is room for some tasks", kept.length > 0, true);
      for (const name of ["more", "others"]) {
        trial.trace.want(
          "there is still no room",
          await trial.create(recordOf(name, 1, "x", filling)),
          "TASK_STORE_FULL",
        );
        await trial.wantGone(idOf(name));
      }
      await trial.wantAll(kept);
    },
  },
  {
    name: "update rejects with TASK_STORE_FULL when there is no room, and changes nothing: the version is still the old one",
    async run({ trace, create, update, wantAll }) {
      const kept = recordOf("a");
      await create(kept);
      for (let times = 0; times < 3; times += 1) {
        trace.want("there is no room for a MiB", await update(recordOf("a", 2, "x", large), 1), "TASK_STORE_FULL");
        await wantAll([kept]);
      }
      trace.want("the version that is there is replaced", await update(recordOf("a", 2), 1), true);
      await wantAll([recordOf("a", 2)]);
    },
  },
  {
    name: "what is removed makes room again, however often, and refusals take none",
    async run(trial) {
      const kept = await fill(trial);
      const [first] = kept;
      if (first === undefined) return trial.trace.fail("there is room for some tasks", kept);
      for (let times = 0; times < maxTasks; times += 1) {
        const refused = await trial.create(recordOf("more", 1, "x", filling));
        trial.trace.want("there is still no room", refused, "TASK_STORE_FULL");
        await trial.remove(first.taskId);
        trial.trace.want("there is room for what was removed", await trial.create(first), "created");
      }
      await trial.wantAll(kept);
    },
  },
];
