import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { exposedName } from "@berth/mcp-relay";
import type { RelayedCall, RelayedTool } from "@berth/mcp-server";
import type { McpHalf } from "./mcp-halves.js";
import { isObject } from "./plugin-client.js";
import { unavailable } from "./plugin-unavailable.js";
import { metaFor, ownMeta } from "./request-meta.js";
import type { ToolCalls } from "./tool-calls.js";

/** Of one plugin; more is what a plugin does that means no good. */
const most = { pages: 64, tools: 1_024, definitionBytes: 256 * 1024, bytes: 4 * 1024 * 1024 } as const;

export interface RelayedToolsOptions {
  /** Writes down each call. */
  readonly calls: ToolCalls;
  readonly signal: AbortSignal;
  readonly onNote: (line: string) => void;
}

/**
 * The tools of one plugin, under names that begin with the plugin's. What cannot be a tool is left out, and told in one line for each reason.
 * @throws what asking for the list throws.
 */
export async function relayedTools(
  half: McpHalf,
  permission: string,
  { calls, signal, onNote }: RelayedToolsOptions,
): Promise<readonly RelayedTool<string>[]> {
  const definitions = await listTools(half, signal, onNote);
  const named = definitions.flatMap((definition) => {
    const { name } = definition;
    return typeof name === "string" && name !== "" ? [{ name, definition }] : [];
  });
  if (named.length < definitions.length)
    onNote(`${definitions.length - named.length} tools without a name are left out`);
  return named.map(({ name, definition }) => ({
    permission,
    definition: { ...definition, name: exposedName(half.plugin, name, "prefixed") },
    call: (call) => relay(half, name, call, calls),
  }));
}

/** Those that are within the bounds. */
async function listTools(
  half: McpHalf,
  signal: AbortSignal,
  onNote: (line: string) => void,
): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  const left = { bytes: most.bytes, tooLarge: 0, broken: 0 };
  let cursor: JsonValue | undefined;
  for (let page = 0; page < most.pages; page += 1) {
    const params = { _meta: ownMeta(), ...(cursor === undefined ? {} : { cursor }) };
    const { tools, nextCursor } = await half.request({ method: "tools/list", params, signal });
    for (const tool of Array.isArray(tools) ? tools : [undefined]) {
      if (!isObject(tool)) left.broken += 1;
      else if (fits(tool, left)) found.push(tool);
      else left.tooLarge += 1;
    }
    cursor = nextCursor;
    if (typeof cursor !== "string" || found.length > most.tools || left.bytes <= 0) break;
  }
  if (left.broken > 0) onNote(`${left.broken} entries of its list that are no tools are left out`);
  if (left.tooLarge > 0)
    onNote(`${left.tooLarge} tools are left out: over ${most.definitionBytes} bytes each, or ${most.bytes} together`);
  if (found.length > most.tools) onNote(`it lists more than ${most.tools} tools: the others are left out`);
  else if (typeof cursor === "string") onNote(`its list has more than ${most.pages} pages: the others are left out`);
  return found.slice(0, most.tools);
}

function fits(tool: JsonObject, left: { bytes: number }): boolean {
  const bytes = Buffer.byteLength(JSON.stringify(tool));
  if (bytes > most.definitionBytes) return false;
  left.bytes -= bytes;
  return left.bytes > 0;
}

async function relay(half: McpHalf, name: string, call: RelayedCall<string>, calls: ToolCalls): Promise<JsonObject> {
  const { principal, params, meta, clientCapabilities, signal, progress } = call;
  const token = meta["progressToken"];
  const request = { ...params, name, _meta: metaFor(meta, clientCapabilities) };
  const onProgress = token === undefined ? undefined : (told: JsonObject): void => tell(told, progress);
  try {
    const about = { plugin: half.plugin, tool: name, principal, door: "mcp" } as const;
    return await calls.run(about, { params: request, signal }, (beforeSend) =>
      half.request({ method: "tools/call", params: request, signal, onProgress, beforeSend }),
    );
  } catch (error) {
    signal.throwIfAborted();
    throw unavailable(half.plugin, error);
  }
}

function tell(told: JsonObject, progress: RelayedCall<string>["progress"]): void {
  const { progress: value, total, message } = told;
  if (typeof value !== "number") return;
  progress(value, typeof total === "number" ? total : undefined, typeof message === "string" ? message : undefined);
}
