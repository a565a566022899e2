import type { Trace } from "../trace.js";
import type { TaskCalls } from "./calls.js";

/** A store that was opened for one check. */
export interface TaskTrial extends TaskCalls {
  readonly trace: Trace;
}

/** One promise of a TaskStore. */
export interface TaskCheck<T extends TaskTrial = TaskTrial> {
  readonly name: string;
  run(trial: T): Promise<void>;
}
