import {
  createMcpServer,
  type DefineTool,
  type McpServer,
  type RelayedTool,
  type ToolDefinition,
  toolsFor,
} from "@berth/mcp-server";
import type { HostMethods } from "../rpc/methods.js";
import { wireErrorOf } from "../rpc/wire-error.js";
import { version } from "../version.js";

export interface HostServerParts {
  readonly methods: HostMethods;
  /** Of process plugins. */
  readonly relayed: readonly RelayedTool<string>[];
  readonly onFault: (fault: unknown) => void;
  /** Told in one line what of a plugin's tools cannot be shown. */
  readonly onNote: (text: string) => void;
}

/** What everybody who was admitted may use. */
export const permission = "use";
const defineTool: DefineTool<string> = toolsFor<string>();

/** The MCP server of all doors: the host's own tools, and those of process plugins. */
export function createHostServer(parts: HostServerParts): McpServer<string> {
  const { relayed, onNote } = parts;
  const kept = relayed.filter((tool) => {
    const fault = faultOf(parts, tool);
    if (fault !== undefined) onNote(`the tool ${JSON.stringify(tool.definition["name"])} is left out: ${fault}`);
    return fault === undefined;
  });
  const names = new Set<unknown>();
  const unique = kept.filter(({ definition: { name } }) => {
    if (names.has(name)) onNote(`the tool ${JSON.stringify(name)} is listed twice: the first counts`);
    return !names.has(name) && names.add(name);
  });
  return makeServer(parts, unique);
}

/** What is wrong with one plugin's tool must not keep the others from being served. */
function faultOf(parts: HostServerParts, tool: RelayedTool<string>): string | undefined {
  try {
    makeServer(parts, [tool]);
    return undefined;
  } catch (error) {
    if (error instanceof Error && error.name === "RegistrationError") return error.message;
    throw error;
  }
}

function makeServer(
  { methods, onFault }: HostServerParts,
  relayedTools: readonly RelayedTool<string>[],
): McpServer<string> {
  return createMcpServer<string>({
    identity: { name: "berth-plugin-host", version, title: "Berth plugin host" },
    instructions:
      "Runs hooks over plugins: asks them whether something may be done, and what of it they change. Tools of plugins are named PLUGIN__TOOL.",
    // Whoever was admitted may use all of it.
    authorize: ({ permission: asked }) => asked === permission,
    tools: [listTool(methods), healthTool(methods), invokeTool(methods)],
    relayedTools,
    onObserverError: onFault,
  });
}

const nothing = { type: "object", properties: {} } as const;

function listTool(methods: HostMethods): ToolDefinition<string> {
  return defineTool({
    name: "list_plugins",
    description: "Lists the plugins in the order in which they run, with their hooks and the environment that answers.",
    inputSchema: nothing,
    permission,
    annotations: { readOnlyHint: true },
    handler: () => ({ structuredContent: { ...methods.list() } }),
  });
}

function healthTool(methods: HostMethods): ToolDefinition<string> {
  return defineTool({
    name: "check_plugins",
    description: "Says of each plugin whether it would answer, without running a hook.",
    inputSchema: nothing,
    permission,
    annotations: { readOnlyHint: true },
    handler: async ({ signal }) => ({ structuredContent: { ...(await methods.health(signal)) } }),
  });
}

const invokeInput = {
  type: "object",
  properties: {
    hook: { type: "string", description: "Such as tool_pre_invoke" },
    payload: { type: "object", description: "In the hook's own form, such as { name, args }" },
    context: {
      type: ["object", "null"],
      description: "requestId, user, userContext, tenantId, serverId, contentType, state, metadata",
    },
    extensions: { type: ["object", "null"], description: "request, http, security, delegation, custom, …" },
    credentials: {
      type: ["object", "null"],
      description:
        "The request's tokens, for plugins that may have them: inbound [{ token, kind, sourceHeader, of }], delegated [{ token, audience, subjectId, … }]",
    },
    carried: { type: ["string", "null"], description: "From the answer of the hook before the same call" },
  },
  required: ["hook", "payload"],
} as const;

function invokeTool(methods: HostMethods): ToolDefinition<string> {
  return defineTool({
    name: "invoke_hook",
    description:
      "Runs a hook over all plugins that have it. A deny is an answer: allowed is false, and violation says why.",
    inputSchema: invokeInput,
    permission,
    annotations: { openWorldHint: true },
    async handler({ arguments: given, principal, signal }) {
      try {
        const outcome = await methods.invoke({ principal, door: "mcp" }, JSON.parse(JSON.stringify(given)), signal);
        return { structuredContent: { ...outcome } };
      } catch (error) {
        const told = wireErrorOf(error);
        if (told === undefined) throw error;
        return { content: [{ type: "text", text: told.message }], isError: true };
      }
    },
  });
}
