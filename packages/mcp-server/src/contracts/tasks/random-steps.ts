import type { TaskRecord } from "../../tasks/record.js";
import { textOfJson } from "../json-text.js";
import type { Random } from "../random.js";
import type { TaskCalls } from "./calls.js";
import { type Act, apply, explanations, type Made, type Model, perform } from "./model.js";
import { idOf, recordOf } from "./records.js";
import type { TaskTrial } from "./task-check.js";

/** What random steps are taken with. */
export interface RandomTrial extends TaskTrial {
  readonly random: Random;
  /** Absent for stores that do not outlive their process. */
  readonly reopen?: (() => Promise<TaskTrial>) | undefined;
}

/** Up to 40 calls one after the other: each answers as a map with versions would, and then its task is read as that has it. */
export async function stepByStep({ random, trace, reopen, ...opened }: RandomTrial): Promise<void> {
  let store: TaskCalls = opened;
  let model: Model = new Map();
  const again = random.below(2) === 0 ? reopen : undefined; // what a store holds in memory only shows while it stays open
  const steps = 1 + random.below(40);
  for (let step = 1; step <= steps; step += 1) {
    if (again !== undefined && random.below(5) === 0) store = await again();
    const kind = random.pick(["create", "update", "update", "remove"]);
    const name = random.pick(["a", "a", "b", "A"]);
    const there = model.get(idOf(name))?.version;
    const expected = there === undefined || random.below(3) === 0 ? 1 + random.below(3) : there;
    const act: Act = { kind, expected, record: recordOf(name, kind === "create" ? 1 : expected + 1, `step ${step}`) };
    const { outcome, after } = apply(model, act);
    trace.want(`${kind} does what it does to a map with versions`, await perform(store, act), outcome);
    model = after;
    const { taskId } = act.record;
    trace.want(`read gives ${taskId} as it was last stored`, [await store.read(taskId)], [model.get(taskId)]);
  }
  await store.wantAll(model.values());
}

/** Five times two to four calls for one id at once: some order of them explains what they answered and what is read afterwards. */
export async function atOnce({ random, trace, ...store }: RandomTrial): Promise<void> {
  let kept: TaskRecord | undefined;
  for (let turn = 1; turn <= 5; turn += 1) {
    const acts = Array.from({ length: 2 + random.below(3) }, (_, at): Act => {
      const kind = random.pick(["create", "update", "update", "remove"]);
      const expected = kept?.version ?? 1;
      return {
        kind,
        expected,
        record: recordOf("a", kind === "create" ? 1 : expected + 1, `turn ${turn}, call ${at}`),
      };
    });
    const made = await Promise.all(
      acts.map(async (act): Promise<Made> => ({ act, outcome: await perform(store, act) })),
    );
    const after = await store.read(idOf("a"));
    const before: Model = new Map(kept === undefined ? [] : [[kept.taskId, kept]]);
    const possible = explanations(made, before).map((model) => textOfJson(model.get(idOf("a"))));
    if (!possible.includes(textOfJson(after))) {
      const answers = made.map(({ act, outcome }) => `${act.kind} by "${act.record.tool}": ${outcome}`);
      trace.fail("some order of the calls made at once explains what they answered and what is read then", {
        answers,
        after,
      });
    }
    kept = after;
  }
}
