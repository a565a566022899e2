import { type JsonObject, wireErrors } from "@berth/jsonrpc-framing";
import { isRpcError, ResultError, RpcError } from "../errors.js";
import { isObject } from "../json.js";
import type { SchemaProblem } from "../json-schema/index.js";
import { declaresTasks, requireTasks } from "../tasks/extension.js";
import type { TaskTool } from "../tasks/tasks.js";
import { isAllowed } from "./authorize.js";
import type { RequestContext } from "./context.js";
import { type Core, complete, type Reply } from "./core.js";
import type { ToolCall, ToolResult } from "./definitions.js";
import { requireHeaderArguments } from "./header-arguments.js";
import { InputRequired } from "./input.js";
import { knownContent } from "./known-content.js";
import type { BoundTool } from "./registry.js";
import { openState } from "./rounds.js";
import { ToolScope } from "./scope.js";

/** `tools/call`. */
export async function callTool<P>(core: Core<P>, context: RequestContext<P>): Promise<Reply> {
  const { name, arguments: given = {} } = context.params;
  if (typeof name !== "string" || !isObject(given)) {
    throw new RpcError(wireErrors.invalidParams, "tools/call needs name, a string, and arguments, an object");
  }
  context.name = name;
  const tool = core.registry.tools.get(name);
  // The same words for both: names cannot be probed.
  if (tool === undefined) throw unknownTool(name);
  const allowed = isAllowed(core.options.authorize, context, "tool", tool);
  if (!(allowed === true || (await allowed))) throw unknownTool(name);
  if (tool.task?.support === "required" && context.era === "modern") requireTasks(context.clientCapabilities);
  if (context.headers !== undefined && context.era === "modern") {
    requireHeaderArguments(tool.headerArguments, given, context.headers);
  }
  const checking = tool.input.check(given);
  const checked = checking instanceof Promise ? await checking : checking;
  if ("problems" in checked) return refuseArguments(core, context, checked.problems);
  openState(core, context);
  const { task } = tool;
  // Awaited here, since to hand a promise on from an async function takes two turns of the microtask queue more.
  if (task === undefined || context.era !== "modern") return await runTool(core, context, tool, checked.value);
  return await runAsTask(core, context, { ...tool, task }, checked.value);
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
  const perform = (): Promise<JsonObject> => runTool(core, context, tool, value);
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
    if (core.options.isSafeError?.(error) !== true) throw error;
    return toolError(core, context, error instanceof Error ? error.message : String(error));
  }
  const shaped = typeof result === "string" ? textResult(tool, result) : await shape(tool, result);
  if (shaped["isError"] === true) context.outcome = "tool-error";
  return complete(core, context, gate(shaped, context));
}

function textResult<P>({ name, output }: BoundTool<P>, text: string): JsonObject {
  if (output !== undefined) throw wrongResult(name, "no structuredContent, which its output schema needs");
  return { content: [{ type: "text", text }] };
}

function wrongResult(name: string, what: string): ResultError {
  return new ResultError(`the handler of tool "${name}" returned ${what}`);
}

async function shape<P>({ name, output }: BoundTool<P>, result: Exclude<ToolResult, string>): Promise<JsonObject> {
  const wrong = (what: string): ResultError => wrongResult(name, what);
  if (!isObject(result)) throw wrong("neither a string nor an object");
  const { content, structuredContent, isError, _meta } = result;
  if (content !== undefined && !Array.isArray(content)) throw wrong("content that is no array");
  if (output !== undefined && isError !== true) {
    if (structuredContent === undefined) throw wrong("no structuredContent, which its output schema needs");
    const checked = await output.check(structuredContent);
    if ("problems" in checked) throw wrong(`structuredContent that its schema refuses: ${tell(checked.problems)}`);
  }
  const shown =
    content ?? (structuredContent === undefined ? [] : [{ type: "text", text: JSON.stringify(structuredContent) }]);
  return {
    content: shown,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError === undefined ? {} : { isError }),
    ...(_meta === undefined ? {} : { _meta }),
  };
}

/** Legacy clients know structured results since 2025-06-18, and objects only; and older ones not all kinds of content. */
function gate(result: JsonObject, { era, revision }: RequestContext<unknown>): JsonObject {
  if (era === "modern") return result;
  const { structuredContent, content, ...rest } = result;
  if (revision < "2025-06-18") {
    return { content: Array.isArray(content) ? knownContent(content, revision) : [], ...rest };
  }
  return structuredContent === undefined || isObject(structuredContent) ? result : { content, ...rest };
}

/** A model can mend its arguments when it sees why they were refused: a tool error since 2025-11-25, before it an error of the protocol. */
function refuseArguments<P>(core: Core<P>, context: RequestContext<P>, problems: readonly SchemaProblem[]): Reply {
  const text = `Invalid arguments: ${tell(problems)}`;
  if (context.revision < "2025-11-25") throw new RpcError(wireErrors.invalidParams, text);
  return toolError(core, context, text);
}

function toolError<P>(core: Core<P>, context: RequestContext<P>, text: string): JsonObject {
  context.outcome = "tool-error";
  return complete(core, context, { content: [{ type: "text", text }], isError: true });
}

function tell(problems: readonly SchemaProblem[]): string {
  return problems.map(({ path, message }) => (path === "" ? message : `${path} ${message}`)).join("; ");
}
