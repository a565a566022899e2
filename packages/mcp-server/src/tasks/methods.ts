import { type JsonObject, wireErrors } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";
import { isObject } from "../json.js";
import { isAllowed } from "../server/authorize.js";
import type { RequestContext } from "../server/context.js";
import { type Core, complete } from "../server/core.js";
import { checkAnswer } from "../server/input.js";
import type { InputRequest } from "../server/questions.js";
import { requireTasks } from "./extension.js";
import { type TaskRecord, toDetailed } from "./record.js";
import type { Tasks } from "./tasks.js";

/** `tasks/get`: the state as it is stored, so that what was told once is true after a crash as well. */
export async function getTask<P>(core: Core<P>, context: RequestContext<P>): Promise<JsonObject> {
  return complete(core, context, toDetailed((await ownTask(core, context)).record));
}

/** `tasks/update`: takes answers; those that nobody asked for, or that came before, are ignored. All are checked before one is taken. */
export async function updateTask<P>(core: Core<P>, context: RequestContext<P>): Promise<JsonObject> {
  const { tasks, record } = await ownTask(core, context);
  const { inputResponses } = context.params;
  if (!isObject(inputResponses)) throw new RpcError(wireErrors.invalidParams, "inputResponses is not an object");
  const live = tasks.live(record.taskId);
  const answers = Object.entries(live?.record.inputRequests ?? {}).flatMap(
    ([key, request]: [string, InputRequest]): [string, JsonObject][] =>
      Object.hasOwn(inputResponses, key) ? [[key, checkAnswer(key, request, inputResponses[key], core.compiler)]] : [],
  );
  await live?.answer(Object.fromEntries(answers));
  return complete(core, context, {});
}

/** `tasks/cancel`: a task that has ended stays as it is. */
export async function cancelTask<P>(core: Core<P>, context: RequestContext<P>): Promise<JsonObject> {
  const { tasks, record } = await ownTask(core, context);
  await tasks.cancel(record.taskId);
  return complete(core, context, {});
}

/** The task that the request names. Unknown, expired, foreign and no longer permitted ones answer alike. */
async function ownTask<P>(
  core: Core<P>,
  context: RequestContext<P>,
): Promise<{ readonly tasks: Tasks<P>; readonly record: TaskRecord }> {
  requireTasks(context.clientCapabilities);
  const { taskId } = context.params;
  if (typeof taskId !== "string") throw new RpcError(wireErrors.invalidParams, "taskId is not a string");
  context.name = taskId.slice(0, 128);
  const record = await findOwnTask(core, context, taskId);
  if (core.tasks === undefined || record === undefined) throw new RpcError(wireErrors.invalidParams, "Unknown task");
  return { tasks: core.tasks, record };
}

/** Asks the tool's permission again: a result is not for somebody who may no longer call the tool. */
export async function findOwnTask<P>(
  core: Core<P>,
  context: RequestContext<P>,
  taskId: string,
): Promise<TaskRecord | undefined> {
  const record = await core.tasks?.read(taskId);
  if (record === undefined || record.owner !== core.principalId(context.principal)) return undefined;
  return (await maySee(core, context, record)) ? record : undefined;
}

/** Whether the principal may still call the tool of a task of its own. At once when the authorizer says it at once. */
export function maySee<P>(
  core: Core<P>,
  context: RequestContext<P>,
  { tool: name }: TaskRecord,
): boolean | Promise<boolean> {
  const tool = core.registry.tools.get(name);
  return tool !== undefined && isAllowed(core.options.authorize, context, "tool", tool);
}
