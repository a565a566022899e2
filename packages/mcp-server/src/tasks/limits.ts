import { type Bounds, type LimitRanges, limitReader } from "../limit-reader.js";

/** What bounds the tasks of a server. Each is a whole number; a value out of its range is a RegistrationError. */
export interface TaskLimits {
  /** Tasks that are kept, finished ones as well: 1 to 1_000_000. Default 10_000. Above: -32603 with `data.limit`. */
  readonly maxTasks?: number | undefined;
  /** Of one principal: 1 to 1_000_000. Default 1_000. Above: -32603 with `data.limit`. */
  readonly maxTasksPerPrincipal?: number | undefined;
  /**
   * Parameters of the calls whose handlers run as tasks, together, as JSON, in bytes: 1_024 to 4_294_967_296. Default 32 MiB: in memory they can take ten times their size.
   * Above: -32603 with `data.limit`. A task that was cancelled counts until its handler has ended.
   */
  readonly maxRunningBytes?: number | undefined;
  /** For tools that name none, in milliseconds from the creation: 1_000 to 2_592_000_000 (30 days). Default 3_600_000. */
  readonly defaultTtlMs?: number | undefined;
  /** The most that a tool may name: 1_000 to 2_592_000_000. Default 86_400_000. */
  readonly maxTtlMs?: number | undefined;
  /** How often clients should ask when a tool names nothing, in milliseconds: 10 to 3_600_000. Default 1_000. */
  readonly pollIntervalMs?: number | undefined;
  /** Largest result or error of a task, as JSON, in bytes: 1_024 to 67_108_864. Default 4 MiB. Above: the task has failed, -32603 with `data.limit`. */
  readonly maxResultBytes?: number | undefined;
  /** Questions to the client in the life of one task: 1 to 16_384. Default 256. Above: `requestInput` throws -32603. */
  readonly maxQuestions?: number | undefined;
}
/** With defaults filled in. */
export type TaskBounds = Bounds<TaskLimits>;

const month = 2_592_000_000;
const ranges = {
  maxTasks: { min: 1, max: 1_000_000, preset: 10_000 },
  maxTasksPerPrincipal: { min: 1, max: 1_000_000, preset: 1_000 },
  maxRunningBytes: { min: 1_024, max: 4_294_967_296, preset: 33_554_432 },
  defaultTtlMs: { min: 1_000, max: month, preset: 3_600_000 },
  maxTtlMs: { min: 1_000, max: month, preset: 86_400_000 },
  pollIntervalMs: { min: 10, max: 3_600_000, preset: 1_000 },
  maxResultBytes: { min: 1_024, max: 67_108_864, preset: 4_194_304 },
  maxQuestions: { min: 1, max: 16_384, preset: 256 },
} as const satisfies LimitRanges<TaskLimits>;

/** Tells each fault, and goes on with the default. */
export function readTaskLimits(limits: TaskLimits | undefined, fault: (message: string) => void): TaskBounds {
  const read = limitReader(limits, ranges, fault);
  const bounds = {
    maxTasks: read("maxTasks"),
    maxTasksPerPrincipal: read("maxTasksPerPrincipal"),
    maxRunningBytes: read("maxRunningBytes"),
    defaultTtlMs: read("defaultTtlMs"),
    maxTtlMs: read("maxTtlMs"),
    pollIntervalMs: read("pollIntervalMs"),
    maxResultBytes: read("maxResultBytes"),
    maxQuestions: read("maxQuestions"),
  };
  if (bounds.defaultTtlMs > bounds.maxTtlMs) fault(`defaultTtlMs ${bounds.defaultTtlMs} is over maxTtlMs`);
  return bounds;
}
