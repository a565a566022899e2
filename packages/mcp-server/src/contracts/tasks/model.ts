import type { TaskRecord } from "../../tasks/record.js";
import type { TaskCalls } from "./calls.js";

/** What a store of tasks is: a map with versions. */
export type Model = ReadonlyMap<string, TaskRecord>;

/** One call that changes it. */
export interface Act {
  readonly kind: "create" | "update" | "remove";
  readonly record: TaskRecord;
  /** For an update. */
  readonly expected: number;
}
/** What a call came to. */
export type Outcome = string | boolean;

/** What the call answers, and what is kept after it. */
export function apply(
  model: Model,
  { kind, record, expected }: Act,
): { readonly outcome: Outcome; readonly after: Model } {
  const { taskId } = record;
  const after = new Map(model);
  if (kind === "remove") {
    after.delete(taskId);
    return { outcome: "removed", after };
  }
  const found = model.get(taskId);
  const fits = kind === "create" ? found === undefined : found?.version === expected;
  if (fits) after.set(taskId, record);
  if (kind === "update") return { outcome: fits, after };
  return { outcome: fits ? "created" : "TASK_EXISTS", after };
}

/** Makes the call of a real store. */
export async function perform(store: TaskCalls, { kind, record, expected }: Act): Promise<Outcome> {
  if (kind === "create") return store.create(record);
  if (kind === "update") return store.update(record, expected);
  await store.remove(record.taskId);
  return "removed";
}

/** A call that was made together with others. */
export interface Made {
  readonly act: Act;
  readonly outcome: Outcome;
}

/** What may be kept after calls that were made at once: one model for each order in which all of them would have come to what they came to. */
export function explanations(made: readonly Made[], model: Model): readonly Model[] {
  if (made.length === 0) return [model];
  return made.flatMap((one) => {
    const { outcome, after } = apply(model, one.act);
    const others = made.filter((other) => other !== one);
    return outcome === one.outcome ? explanations(others, after) : [];
  });
}
