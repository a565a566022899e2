import { systemScheduler } from "@berth/jsonrpc-framing";
import { principalId } from "../server/core.js";
import type { Observation } from "../server/observers.js";
import type { McpServerOptions } from "../server/options.js";
import type { Registry } from "../server/registry.js";
import { shownError } from "../shown-error.js";
import { createMemoryTaskStore } from "./memory-store.js";
import type { FailedTask } from "./settings.js";
import { createTasks, type Tasks } from "./tasks.js";

/** The tasks of a server as its options say; undefined when no tool can be run as one. */
export function openTasks<P>(
  options: McpServerOptions<P>,
  { tools, taskBounds }: Registry<P>,
  observation: Observation<P>,
  now: () => number,
): Tasks<P> | undefined {
  if (![...tools.values()].some(({ task }) => task !== undefined)) return undefined;
  return createTasks({
    store: options.tasks?.store ?? createMemoryTaskStore(),
    bounds: taskBounds,
    observation,
    scheduler: options.scheduler ?? systemScheduler,
    now,
    principalId: (principal) => principalId(options, principal),
    onUnexpectedError: options.tasks?.onUnexpectedError ?? warn,
  });
}

/** Nobody waits for the call any more: the error must not be lost in silence. */
function warn(error: unknown, { tool }: FailedTask): void {
  process.emitWarning(`unexpected error in a task of tool "${tool}": ${shownError(error)}`, "McpTaskWarning");
}
