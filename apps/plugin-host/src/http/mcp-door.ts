import type { NamesServed } from "@berth/command-line/http";
import { createMcpServer, type DefineTool, type ToolDefinition, toolsFor } from "@berth/mcp-server";
import { type Admitter, createHttpHandler, type HttpHandler } from "@berth/mcp-server/http";
import type { HostMethods } from "../rpc/methods.js";
import { wireErrorOf } from "../rpc/wire-error.js";

export interface McpDoorParts {
  readonly version: string;
  readonly methods: HostMethods;
  readonly admitter: Admitter<string> | undefined;
  readonly names: NamesServed;
  readonly maxBodyBytes: number;
  readonly onFault: (fault: unknown) => void;
  /** Told what was refused, such as the `Origin` of a page, in one line. */
  readonly onNote: (text: string) => void;
}

/** MCP at `/mcp`, in every revision that is served. */
export interface McpDoor extends AsyncDisposable {
  readonly handler: HttpHandler;
  close(): Promise<void>;
}

const permission = "use";
const defineTool: DefineTool<string> = toolsFor<string>();

/** Whoever comes without authentication. */
export const localPrincipal = "local";

export function createMcpDoor({
  version,
  methods,
  admitter,
  names,
  maxBodyBytes,
  onFault,
  onNote,
}: McpDoorParts): McpDoor {
  const server = createMcpServer<string>({
    identity: { name: "berth-plugin-host", version, title: "Berth plugin host" },
    instructions: "Runs hooks over CPEX plugins: asks them whether something may be done, and what of it they change.",
    // Whoever was admitted may use all of it.
    authorize: ({ permission: asked }) => asked === permission,
    tools: [listTool(methods), healthTool(methods), invokeTool(methods)],
    onObserverError: onFault,
  });
  const handler = createHttpHandler({
    server,
    ...(admitter === undefined ? { principal: localPrincipal } : { admitter }),
    allowedHosts: names.hosts,
    allowedOrigins: names.allowedOrigins,
    limits: { maxBodyBytes },
    onUnexpectedError: onFault,
    logger: (text, error) => {
      if (error === undefined) onNote(text); // any other is told to onUnexpectedError too
    },
  });
  const close = async (): Promise<void> => {
    await handler.close();
    await server.close();
  };
  return { handler, close, [Symbol.asyncDispose]: close };
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
