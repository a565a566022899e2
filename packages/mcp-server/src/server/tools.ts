import { type JsonObject, wireErrors } from "@berth/jsonrpc-framing";
import { isRpcError, RpcError } from "../errors.js";
import { isObject } from "../json.js";
import type { SchemaProblem } from "../json-schema/index.js";
import { declaresTasks, requireTasks } from "../tasks/extension.js";
import type { TaskTool } from "../tasks/tasks.js";
import { isAllowed } from "./authorize.js";
import type { RequestContext } from "./context.js";
import { type Core, complete, type Reply } from "./core.js";
import type { ToolCall, ToolResult } from "./definitions.js";
import { type HeaderArgument, requireHeaderArguments } from "./header-arguments.js";
import { InputRequired } from "./input.js";
import type { BoundTool } from "./registry.js";
import { relayTool } from "./relayed-tool.js";
import { openState } from "./rounds.js";
import { ToolScope } from "./scope.js";
import { gate, shapeResult, tellProblems } from "./tool-result.js";

/** `tools/call`. */
export async function callTool<P>(core: Core<P>, context: RequestContext<P>): Promise<Reply> {
  const { name, arguments: given = {} } = context.params;
  if (typeof name !== "string" || !isObject(given)) {
    throw new RpcError(wireErrors.invalidParams, "tools/call needs name, a string, and arguments, an object");
  }
  context.name = name;
  const tool = core.registry.tools.get(name) ?? core.registry.relayed.tools.get(name);
  // The same words for both: names cannot be probed.
  if (tool === undefined) throw unknownTool(name);
  const allowed = isAllowed(core.options.authorize, context, "tool", tool);
  if (!(allowed === true || (await allowed))) throw unknownTool(name);
  if ("relay" in tool) {
    requireHeaders(context, tool.headerArguments, given);
    return await relayTool(core, context, tool);
  }
  if (tool.task?.support === "required" && context.era === "modern") requireTasks(context.clientCapabilities);
  requireHeaders(context, tool.headerArguments, given);
  const checking = tool.input.check(given);
  const checked = checking instanceof Promise ? await checking : checking;
  if ("problems" in checked) return refuseArguments(core, context, checked.problems);
  openState(core, context);
  const { task } = tool;
  // Awaited here, since to hand a promise on from an async function takes two turns of the microtask queue more.
  if (task === undefined || context.era !== "modern") return await runTool(core, context, tool, checked.value);
  return await runAsTask(core, context, { ...tool, task }, checked.value);
}

function requireHeaders<P>(
  { headers, era }: RequestContext<P>,
  headerArguments: readonly HeaderArgument[],
  given: JsonObject,
): void {
  if (headers !== undefined && era === "modern") requireHeaderArguments(headerArguments, given, headers);
}

function unknownTool(name: string): RpcError {
  return new RpcError(wireErrors.invalidParams, `Unknown tool: ${name.slice(0, 128)}`);
}

/** The client that did not say that it knows tasks waits for the result. */
async function runAsTask<P>(
  core: Core<P>,
  context: RequestContext<P>,
  tool: TaskTool<P>,
  value: unknown,
): Promise<JsonObject> {
  const perform = async (): Promise<JsonObject> => {
    const result = await runTool(core, context, tool, value);
    if (context.askedWrongly !== undefined) throw context.askedWrongly;
    return result;
  };
  if (core.tasks === undefined || !declaresTasks(context.clientCapabilities)) return perform();
  return complete(core, context, await core.tasks.run(context, tool, perform));
}

/** A tool with arguments of any type: its own schema has allowed them. */
interface Runnable<P> {
  handler(call: ToolCall<P, unknown>): ToolResult | Promise<ToolResult>;
}

async function runTool<P>(
  core: Core<P>,
  context: RequestContext<P>,
  tool: BoundTool<P>,
  value: unknown,
): Promise<JsonObject> {
  const scope = new ToolScope(context, core.compiler, value);
  const { definition }: { readonly definition: Runnable<P> } = tool;
  let result: ToolResult;
  try {
    result = await definition.handler(scope);
  } catch (error) {
    if (error instanceof InputRequired || isRpcError(error) || context.interrupted) throw error;
    if (!core.isSafe(error)) throw error;
    return toolError(core, context, error instanceof Error ? error.message : String(error));
  }
  const shaping = shapeResult(tool, result);
  const shaped = shaping instanceof Promise ? await shaping : shaping;
  if (shaped["isError"] === true) context.outcome = "tool-error";
  return complete(core, context, gate(shaped, context));
}

/** A model can mend its arguments when it sees why they were refused: a tool error since 2025-11-25, before it an error of the protocol. */
function refuseArguments<P>(core: Core<P>, context: RequestContext<P>, problems: readonly SchemaProblem[]): Reply {
  const text = `Invalid arguments: ${tellProblems(problems)}`;
  const isProtocolError = core.options.invalidArguments !== "tool-error" && context.revision < "2025-11-25";
  if (isProtocolError) throw new RpcError(wireErrors.invalidParams, text);
  return toolError(core, context, text);
}

function toolError<P>(core: Core<P>, context: RequestContext<P>, text: string): JsonObject {
  context.outcome = "tool-error";
  return complete(core, context, { content: [{ type: "text", text }], isError: true });
}
