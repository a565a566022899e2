import {
  aFunction,
  anObject,
  checkOptions,
  describeFault,
  having,
  kind,
  type OptionKind,
  type OptionKinds,
  optional,
} from "../option-check.js";
import type { TaskBounds, TaskLimits } from "./limits.js";
import type { TaskStore } from "./store.js";

/** A task whose handler threw what is no answer. */
export interface FailedTask {
  readonly taskId: string;
  readonly tool: string;
}

/** How a server keeps tasks. */
export interface TaskSettings {
  /** Default: one in memory, `createMemoryTaskStore()`. Stays the caller's; one server at a time. */
  readonly store?: TaskStore | undefined;
  readonly limits?: TaskLimits | undefined;
  /**
   * Told what a task's handler threw when that is no answer, or why a task's state could not be stored: nobody waits for a call that has become a task,
   * so `handle` cannot reject. The client sees -32603 without details. Default: a process warning with the error's text.
   */
  readonly onUnexpectedError?: ((error: unknown, task: FailedTask) => void) | undefined;
}

/** Whether calls of a tool may (`optional`) or must (`required`) become tasks. */
export type TaskSupport = "optional" | "required";

/** How the calls of one tool become tasks. */
export interface ToolTask {
  /**
   * `optional`: a client that does not know tasks gets an ordinary call. `required`: a client of 2026-07-28 that does not declare the extension with the
   * request gets -32021. Older clients cannot declare it: for them every call is ordinary, whatever is said here.
   */
  readonly support: TaskSupport;
  /** How long the task can be read, in milliseconds from its creation: 1_000 to the limit `maxTtlMs`. A task that still runs then is aborted. */
  readonly ttlMs?: number | undefined;
  /** How often the client should ask, in milliseconds: 10 to 3_600_000. */
  readonly pollIntervalMs?: number | undefined;
  /**
   * `at-once` (default): before the handler begins. `when-started`: when it calls `startTask()`; what it asks the client before that is asked in rounds
   * of the call itself, and when it returns without having started a task, its result is the answer.
   */
  readonly begins?: "at-once" | "when-started" | undefined;
}
/** With defaults filled in. */
export type BoundTask = { readonly [Name in keyof ToolTask]-?: NonNullable<ToolTask[Name]> };

const settingKinds = {
  store: optional(having(["create", "read", "update", "remove", "list"], "a store of tasks")),
  limits: optional(anObject),
  onUnexpectedError: optional(aFunction),
} as const satisfies OptionKinds<TaskSettings>;

/** Tells what is wrong in the settings, beside their limits. */
export function checkTaskSettings(given: TaskSettings | undefined, say: (message: string) => void): void {
  if (anObject.fits(given)) checkOptions(given, settingKinds, { fault: say });
}

const wholeNumber = (min: number, max: number): OptionKind =>
  optional(
    kind(`a whole number from ${min} to ${max}`, (value) => {
      return Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
    }),
  );
const isSupport = (value: unknown): boolean => value === "optional" || value === "required";
const isBeginning = (value: unknown): boolean => value === "at-once" || value === "when-started";

/** Reads what a tool says of tasks, for the registration report. */
export function readToolTask(
  given: TaskSupport | ToolTask | undefined,
  bounds: TaskBounds,
  say: (message: string) => void,
): BoundTask | undefined {
  if (given === undefined) return undefined;
  if (!isToolTask(given) && !isSupport(given)) {
    say(describeFault("task", given, '"optional", "required" or an object'));
    return undefined;
  }
  const task: ToolTask = isToolTask(given) ? given : { support: given };
  const kinds = {
    support: kind('"optional" or "required"', isSupport),
    ttlMs: wholeNumber(1_000, bounds.maxTtlMs),
    pollIntervalMs: wholeNumber(10, 3_600_000),
    begins: optional(kind('"at-once" or "when-started"', isBeginning)),
  } as const satisfies OptionKinds<ToolTask>;
  checkOptions(task, kinds, { of: "task", fault: say });
  return {
    support: task.support,
    ttlMs: task.ttlMs ?? bounds.defaultTtlMs,
    pollIntervalMs: task.pollIntervalMs ?? bounds.pollIntervalMs,
    begins: task.begins ?? "at-once",
  };
}

function isToolTask(given: TaskSupport | ToolTask): given is ToolTask {
  return anObject.fits(given);
}
