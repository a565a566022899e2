import { type JsonObject, type JsonValue, wireErrors } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";
import { forgetDenial } from "../server/authorize.js";
import type { RequestContext } from "../server/context.js";
import type { Core } from "../server/core.js";
import { requireTasks } from "./extension.js";
import { findOwnTask } from "./methods.js";
import { type TaskRecord, toDetailed } from "./record.js";
import type { Tasks } from "./tasks.js";
import { createTurns } from "./turns.js";

/**
 * The tasks that the principal may listen to, of those that it asked for; others are not honoured, whether they exist or not.
 * @throws {RpcError} -32021 when the client did not declare the extension, -32602 for more than `limit`.
 */
export async function watchable<P>(
  core: Core<P>,
  context: RequestContext<P>,
  asked: JsonValue | undefined,
  limit: number,
): Promise<readonly string[]> {
  if (core.tasks === undefined || !Array.isArray(asked)) return [];
  requireTasks(context.clientCapabilities);
  if (asked.length > limit) throw new RpcError(wireErrors.invalidParams, `more than ${limit} tasks`);
  const found = new Set<string>();
  for (const taskId of asked) {
    if (typeof taskId === "string" && (await findOwnTask(core, context, taskId)) !== undefined) found.add(taskId);
  }
  forgetDenial(context);
  return [...found];
}

/** Whether who listens may see the task at this moment. */
type IsVisible = (record: TaskRecord) => boolean | Promise<boolean>;
type TellTask = (task: JsonObject, droppable: boolean) => void;

/**
 * Tells each task as it is now, so that what happened before somebody listened is not missed, and then each change, in order. The permission is asked again
 * each time: who has lost it hears no more. Returns what ends it.
 */
export function watchTasks<P>(
  tasks: Tasks<P>,
  taskIds: readonly string[],
  isVisible: IsVisible,
  tell: TellTask,
): () => void {
  const ends = taskIds.map((taskId) => watchTask(tasks, taskId, isVisible, tell));
  return () => {
    for (const end of ends) end();
  };
}

function watchTask<P>(tasks: Tasks<P>, taskId: string, isVisible: IsVisible, tell: TellTask): () => void {
  let told = 0;
  const tellOnce = (record: TaskRecord, isMessage: boolean): void => {
    if (record.version <= told) return; // read before a change that was told meanwhile
    told = record.version;
    tell(toDetailed(record), isMessage);
  };
  const tellVisible = createTurns((record: TaskRecord, isMessage: boolean) => {
    const tellIf = (isAllowed: boolean): void => {
      if (isAllowed) tellOnce(record, isMessage);
    };
    const visible = isVisible(record);
    if (visible instanceof Promise) return visible.then(tellIf);
    tellIf(visible);
    return undefined;
  });
  const end = tasks.watch(taskId, tellVisible);
  const tellNow = async (): Promise<void> => {
    const record = await tasks.read(taskId);
    if (record !== undefined) await tellVisible(record, false);
  };
  tellNow().catch(() => undefined); // changes are told all the same, and whoever asks for the task gets the error
  return () => {
    told = Number.POSITIVE_INFINITY;
    end();
  };
}
