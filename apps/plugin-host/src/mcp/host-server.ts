import {
  createMcpServer,
  type DefineTool,
  type McpServer,
  RegistrationError,
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

/** The MCP server of all doors: the host's own tools, and those of process plugins. What is wrong with one of these keeps no other from being served. */
export function createHostServer(parts: HostServerParts): McpServer<string> {
  const { relayed, onNote } = parts;
  try {
    return makeServer(parts, relayed);
  } catch (error) {
    const faults = faultsOf(error);
    if (faults.size === 0) throw error;
    const told = [...faults].map(([at, fault]) => `${nameOf(relayed[at])} (${fault})`);
    const more = told.length > maxTold ? `, and ${told.length - maxTold} more` : "";
    onNote(`${told.length} tools of plugins are left out: ${told.slice(0, maxTold).join(", ")}${more}`);
    return makeServer(
      parts,
      relayed.filter((_tool, at) => !faults.has(at)),
    );
  }
}

/** Named in the one line about those that are left out. */
const maxTold = 10;
const maxNameLength = 128;

/** What is wrong with relayed tools, by their place; empty when it is something else. */
function faultsOf(error: unknown): ReadonlyMap<number, string> {
  const faults = new Map<number, string>();
  if (!(error instanceof RegistrationError)) return faults;
  for (const { where, message } of error.problems) {
    const place = /^relayedTools\[(\d+)\]/u.exec(where)?.[1];
    if (place === undefined) return new Map();
    if (!faults.has(Number(place))) faults.set(Number(place), message);
  }
  return faults;
}

function nameOf(tool: RelayedTool<string> | undefined): string {
  return JSON.stringify(String(tool?.definition["name"]).slice(0, maxNameLength));
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
