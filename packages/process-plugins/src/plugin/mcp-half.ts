import { inputFault } from "./check-input.js";
import { mcpGate, mcpVersion } from "./mcp-gate.js";
import type { Json, PluginCall, PluginDefinition, PluginTool, ToolAnswer } from "./plugin-definition.js";
import { type Answer, invalidParams, isJson, methodNotFound } from "./wire.js";

/** The MCP half of a plugin: tools only, without a session. */
export interface McpHalf {
  answer(method: string, params: unknown, call: PluginCall): Promise<Answer> | Answer;
}

const hints = { ttlMs: 0, cacheScope: "public" } as const;

export function createMcpHalf(definition: PluginDefinition): McpHalf {
  const { name, version, instructions, tools = [] } = definition;
  const stamp = (result: Json): Answer => ({
    result: {
      resultType: "complete",
      ...result,
      _meta: {
        "io.modelcontextprotocol/serverInfo": { name, version },
        ...(isJson(result["_meta"]) && result["_meta"]),
      },
    },
  });
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const shown = tools.filter((tool) => tool.listed !== false).map(describe);
  const capabilities = { tools: { listChanged: false } };
  const discovered = { ...hints, supportedVersions: [mcpVersion], capabilities, ...(instructions && { instructions }) };
  const list = (params: Json): Answer =>
    params["cursor"] === undefined ? stamp({ ...hints, tools: shown }) : invalidParams("Unknown cursor");
  const callTool = async (params: Json, call: PluginCall): Promise<Answer> => {
    const { name: wanted, arguments: input = {} } = params;
    if (typeof wanted !== "string") return invalidParams("params.name is missing or not a string");
    if (!isJson(input)) return invalidParams("params.arguments is not an object");
    const tool = byName.get(wanted);
    return tool === undefined ? invalidParams(`Unknown tool: ${wanted}`) : stamp(await runTool(tool, input, call));
  };
  const methods = new Map<string, (params: Json, call: PluginCall) => Answer | Promise<Answer>>([
    ["server/discover", () => stamp(discovered)],
    ["tools/list", list],
    ["tools/call", callTool],
  ]);
  return {
    answer: (method, params, call) => {
      const fault = mcpGate(method, params);
      if (fault !== undefined || !isJson(params)) return fault ?? methodNotFound(method);
      return methods.get(method)?.(params, call) ?? methodNotFound(method);
    },
  };
}

function describe(tool: PluginTool): Json {
  const { name, description, inputSchema } = tool;
  return { name, ...(description !== undefined && { description }), inputSchema };
}

async function runTool(tool: PluginTool, input: Json, call: PluginCall): Promise<Json> {
  const fault = inputFault(tool.inputSchema, input);
  if (fault !== undefined) return failed(`Invalid arguments: ${fault}`);
  try {
    return resultOf(await tool.call(input, call));
  } catch (error) {
    // To the operator, never to the caller: the text of an exception may hold paths, or what somebody else asked.
    if (!call.signal.aborted) call.log("error", `tool ${tool.name}: ${error instanceof Error ? error.stack : error}`);
    return failed(`Tool failed: ${tool.name}`);
  }
}

const failed = (text: string): Json => ({ content: [{ type: "text", text }], isError: true });

function resultOf(answer: ToolAnswer): Json {
  if (typeof answer === "string") return { content: [{ type: "text", text: answer }], isError: false };
  const value = { ...answer };
  if ("content" in value) return { isError: false, ...value };
  return { content: [{ type: "text", text: JSON.stringify(sorted(value)) }], structuredContent: value, isError: false };
}

/** With keys in order, so that equal answers are equal text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJson(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}
