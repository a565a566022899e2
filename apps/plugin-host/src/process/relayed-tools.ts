import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { exposedName } from "@berth/mcp-relay";
import { type RelayedCall, type RelayedTool, RpcError } from "@berth/mcp-server";
import { isProcessPluginError } from "@berth/process-plugins";
import type { McpHalf } from "./mcp-halves.js";
import { isObject } from "./plugin-client.js";
import { metaFor, ownMeta } from "./request-meta.js";

/** Of one plugin; more is what a plugin does that means no good. */
const most = { pages: 64, tools: 1_024 } as const;

/**
 * The tools of one plugin, under names that begin with the plugin's. What cannot be a tool is left out, with one line each for the operator.
 * @throws what asking for the list throws.
 */
export async function relayedTools(
  half: McpHalf,
  permission: string,
  { signal, onNote }: { readonly signal: AbortSignal; readonly onNote: (line: string) => void },
): Promise<readonly RelayedTool<string>[]> {
  const definitions = await listTools(half, signal, onNote);
  return definitions.flatMap((definition) => {
    const { name } = definition;
    if (typeof name !== "string") {
      onNote("a tool without a name is left out");
      return [];
    }
    const shown = { ...definition, name: exposedName(half.plugin, name, "prefixed") };
    return [{ permission, definition: shown, call: (call) => relay(half, name, call) }];
  });
}

async function listTools(
  half: McpHalf,
  signal: AbortSignal,
  onNote: (line: string) => void,
): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  let cursor: JsonValue | undefined;
  for (let page = 0; page < most.pages; page += 1) {
    const params = { _meta: ownMeta(), ...(cursor === undefined ? {} : { cursor }) };
    const { tools, nextCursor } = await half.request({ method: "tools/list", params, signal });
    if (Array.isArray(tools)) found.push(...tools.filter(isObject));
    cursor = nextCursor;
    if (typeof cursor !== "string" || found.length > most.tools) break;
  }
  if (found.length > most.tools) onNote(`it lists more than ${most.tools} tools: the others are left out`);
  return found.slice(0, most.tools);
}

async function relay(half: McpHalf, name: string, call: RelayedCall<string>): Promise<JsonObject> {
  const { params, meta, clientCapabilities, signal, progress } = call;
  const token = meta["progressToken"];
  const request = { ...params, name, _meta: metaFor(meta, clientCapabilities) };
  const onProgress = token === undefined ? undefined : (told: JsonObject): void => tell(told, progress);
  try {
    return await half.request({ method: "tools/call", params: request, signal, onProgress });
  } catch (error) {
    signal.throwIfAborted();
    // What a plugin's host says of it is made for whoever calls: no output of the plugin is in it.
    if (isProcessPluginError(error)) throw new RpcError(unavailable, error.message, { data: { code: error.code } });
    throw error;
  }
}

/** Outside of what JSON-RPC and MCP reserve. */
const unavailable = -31102;

function tell(told: JsonObject, progress: RelayedCall<string>["progress"]): void {
  const { progress: value, total, message } = told;
  if (typeof value !== "number") return;
  progress(value, typeof total === "number" ? total : undefined, typeof message === "string" ? message : undefined);
}
