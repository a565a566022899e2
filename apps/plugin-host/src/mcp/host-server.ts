import type { JsonObject } from "@berth/jsonrpc-framing";
import { visibleText } from "@berth/mcp-relay";
import {
  createMcpServer,
  type DefineTool,
  type McpServer,
  RegistrationError,
  type ToolDefinition,
  toolsFor,
} from "@berth/mcp-server";
import type { Offers } from "../process/offers-of-processes.js";
import type { HostMethods } from "../rpc/methods.js";
import { wireErrorOf } from "../rpc/wire-error.js";
import { version } from "../version.js";

export interface HostServerParts {
  readonly methods: HostMethods;
  /** Of process plugins. */
  readonly offers: Offers;
  readonly onFault: (fault: unknown) => void;
  /** Told in one line what of a plugin's tools, prompts or resources cannot be shown. */
  readonly onNote: (text: string) => void;
}

/** What everybody who was admitted may use. */
export const permission = "use";
const defineTool: DefineTool<string> = toolsFor<string>();

/** The MCP server of all doors: the host's own tools, and what process plugins have. What is wrong with one of these keeps no other from being served. */
export function createHostServer(parts: HostServerParts): McpServer<string> {
  const { offers, onNote } = parts;
  try {
    return makeServer(parts);
  } catch (error) {
    const faults = faultsOf(error);
    if (faults.size === 0) throw error;
    const kept = <D extends Definition>(name: OfferKind, entries: string, list: readonly D[]): readonly D[] => {
      const wrong = faults.get(name);
      if (wrong === undefined) return list;
      const words = [...wrong].map(([at, fault]) => `${nameOf(list[at])} (${fault})`);
      const more = words.length > maxTold ? `, and ${words.length - maxTold} more` : "";
      onNote(`${words.length} ${entries} of plugins are left out: ${words.slice(0, maxTold).join(", ")}${more}`);
      return list.filter((_one, at) => !wrong.has(at));
    };
    return makeServer({
      ...parts,
      offers: {
        tools: kept("relayedTools", "tools", offers.tools),
        prompts: kept("relayedPrompts", "prompts", offers.prompts),
        resources: kept("relayedResources", "resources", offers.resources),
        templates: kept("relayedResourceTemplates", "resource templates", offers.templates),
        addresses: offers.addresses,
      },
    });
  }
}

/** Named in the one line about those that are left out. */
const maxTold = 10;
const maxNameLength = 128;

type OfferKind = "relayedTools" | "relayedPrompts" | "relayedResources" | "relayedResourceTemplates";
interface Definition {
  readonly definition: JsonObject;
}

/** What is wrong with what plugins have, by its kind and place; empty when it is something else. */
function faultsOf(error: unknown): ReadonlyMap<string, ReadonlyMap<number, string>> {
  const faults = new Map<string, Map<number, string>>();
  if (!(error instanceof RegistrationError)) return faults;
  for (const { where, message } of error.problems) {
    const [, kind, place] = /^(relayed\w+)\[(\d+)\]/u.exec(where) ?? [];
    if (kind === undefined || place === undefined) return new Map();
    const ofKind = faults.get(kind) ?? new Map<number, string>();
    faults.set(kind, ofKind);
    if (!ofKind.has(Number(place))) ofKind.set(Number(place), message);
  }
  return faults;
}

function nameOf(one: Definition | undefined): string {
  const { name, uri, uriTemplate } = one?.definition ?? {};
  return visibleText(JSON.stringify(String(uri ?? uriTemplate ?? name).slice(0, maxNameLength)));
}

function makeServer({ methods, offers, onFault }: HostServerParts): McpServer<string> {
  return createMcpServer<string>({
    identity: { name: "berth-plugin-host", version, title: "Berth plugin host" },
    instructions:
      "Runs hooks over plugins: asks them whether something may be done, and what of it they change. Tools and prompts of plugins are named PLUGIN__NAME.",
    // Whoever was admitted may use all of it.
    authorize: ({ permission: asked }) => asked === permission,
    tools: [listTool(methods), healthTool(methods), invokeTool(methods)],
    relayedTools: offers.tools,
    relayedPrompts: offers.prompts,
    relayedResources: offers.resources,
    relayedResourceTemplates: offers.templates,
    relayedAddresses: offers.addresses,
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
