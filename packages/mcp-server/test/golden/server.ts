import type * as berth from "../../src/index.js";
import type { Shown } from "./shown.js";

type Tool = berth.ToolDefinition<string>;
type Options = berth.McpServerOptions<string>;

/** What the server is made with: from the sources, or from the built package in a process of its own. */
export interface Made {
  readonly createMcpServer: typeof berth.createMcpServer;
  readonly RpcError: typeof berth.RpcError;
  readonly shown: Shown;
}

/** The time at which each exchange begins. */
export const startsAt: number = Date.parse("2026-07-28T00:00:00Z");

/**
 * The server that golden exchanges are played against: a tool, prompt or resource for each behaviour. It imports nothing at run time, so
 * that Node can run this file as it is.
 */
export function goldenServer(made: Made, now: () => number, more: Partial<Options> = {}): berth.McpServer<string> {
  const server: berth.McpServer<string> = made.createMcpServer<string>({
    identity: { name: "golden", version: "1.0.0", title: "Golden", description: "for goldens", icons: [icon] },
    instructions: "Be kind.",
    authorize: ({ permission }) => permission === "use",
    isSafeError: (error) => error instanceof Error && error.message.startsWith("safe: "),
    requestState: { keys: [new Uint8Array(32).fill(7)] },
    cacheHints: { ttlMs: 5_000, scope: "private" },
    limits: { pageSize: 4 },
    tasks: { onUnexpectedError: () => undefined },
    tools: [...plainTools, ...failingTools(made), ...tellingTools, ...askingTools, ...taskTools, ...own()],
    ...made.shown,
    now,
    ...more,
  });
  return server;

  /** What needs the server itself. */
  function own(): readonly Tool[] {
    return [
      tool("changes", () => {
        server.listChanged("tools");
        server.listChanged("prompts");
        server.resourceUpdated("note:///1");
        return "changed";
      }),
      tool("closes", () => {
        setImmediate(() => void server.close());
        return "closing";
      }),
    ];
  }
}

const icon = { src: "https://example.org/icon.png", mimeType: "image/png", sizes: ["48x48"] };
const nothing = { type: "object", additionalProperties: false };

function tool(name: string, handler: Tool["handler"], more: Partial<Tool> = {}): Tool {
  return { name, description: name, inputSchema: nothing, permission: "use", ...more, handler };
}

function given({ arguments: values }: berth.ToolCall<string, unknown>, name: string): unknown {
  return new Map(Object.entries(Object(values))).get(name);
}

const plainTools: readonly Tool[] = [
  tool("echo", (call) => String(given(call, "text")), {
    title: "Echo",
    icons: [icon],
    annotations: { title: "Says it again", readOnlyHint: true },
    inputSchema: {
      type: "object",
      properties: { text: { type: "string", maxLength: 40 } },
      required: ["text"],
      additionalProperties: false,
    },
    _meta: { "example.org/kind": "demo" },
  }),
  tool("sum", (call) => ({ structuredContent: { sum: Number(given(call, "a")) + Number(given(call, "b")) } }), {
    inputSchema: {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "integer" } },
      required: ["a", "b"],
    },
    outputSchema: { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] },
  }),
  tool("primes", () => ({ structuredContent: [2, 3, 5] }), {
    outputSchema: { type: "array", items: { type: "integer" } },
  }),
  tool("ship", (call) => JSON.stringify(call.arguments), {
    inputSchema: {
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        count: { type: "integer", "x-mcp-header": "Count" },
        dry: { type: "boolean", "x-mcp-header": "Dry" },
        note: { type: "string" },
      },
    },
  }),
  tool("shows", () => ({
    content: [
      { type: "text", text: "Grüße\n\u2028", annotations: { audience: ["user"], priority: 0.5 } },
      { type: "image", data: "AAEC", mimeType: "image/png" },
      { type: "audio", data: "AAEC", mimeType: "audio/wav" },
      { type: "resource_link", uri: "note:///1", name: "first" },
      { type: "resource", resource: { uri: "note:///1", text: "first" } },
    ],
    _meta: { "example.org/took": 3 },
  })),
  tool("whoami", ({ principal, requestId, revision, clientCapabilities }) =>
    JSON.stringify({ principal, requestId, revision, clientCapabilities }),
  ),
  tool("secret", () => "gold", { permission: "admin" }),
];

function failingTools({ RpcError }: Made): readonly Tool[] {
  const failing = (name: string, error: () => Error): Tool =>
    tool(name, () => {
      throw error();
    });
  return [
    failing("fails", () => new Error("safe: the disk is full")),
    failing("breaks", () => new Error("the password is hunter2")),
    failing("refuses", () => new RpcError(4001, "no more today", { data: { again: "tomorrow" } })),
    tool("reports", () => ({ isError: true, content: [{ type: "text", text: "no such city" }] })),
    tool("wrong", () => ({ structuredContent: { sum: "three" } }), {
      outputSchema: { type: "object", properties: { sum: { type: "integer" } } },
    }),
  ];
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

const tellingTools: readonly Tool[] = [
  tool("tells", ({ log, progress }) => {
    for (const step of [1, 1, 2]) progress(step, 2, `step ${step}`);
    log("debug", "fine print");
    log("warning", { hot: true }, "stove");
    return "told";
  }),
  tool("waits", ({ signal }) => aborted(signal)),
  tool("begins", ({ progress, signal }) => {
    progress(1);
    return aborted(signal);
  }),
  tool("steps-then-breaks", async ({ progress }) => {
    progress(1);
    await new Promise(setImmediate);
    throw new Error("the password is hunter2");
  }),
  tool("releases", async ({ progress, releaseStream }) => {
    progress(1);
    releaseStream();
    await new Promise(setImmediate);
    return "later";
  }),
];

function form(field: string): berth.InputRequest {
  const requestedSchema = { type: "object", properties: { [field]: { type: "string" } }, required: [field] };
  return { method: "elicitation/create", params: { mode: "form", message: `${field}?`, requestedSchema } };
}
const visit = { mode: "url", message: "Sign in", url: "https://example.org/in" };
const sampling = { messages: [{ role: "user", content: { type: "text", text: "Hi" } }], maxTokens: 9 };

const askingTools: readonly Tool[] = [
  tool("asks", async ({ requestInput }) => {
    const { name } = await requestInput({ name: form("name") });
    const { place } = await requestInput({ place: form("place") });
    return JSON.stringify([name, place]);
  }),
  tool("visits", async ({ requestInput, revision }) => {
    const params = revision < "2026-07-28" ? { ...visit, elicitationId: "e1" } : visit;
    const { visited } = await requestInput({ visited: { method: "elicitation/create", params } });
    return JSON.stringify(visited);
  }),
  tool("samples", async ({ requestInput }) => {
    const { said } = await requestInput({ said: { method: "sampling/createMessage", params: sampling } });
    return JSON.stringify(said);
  }),
  tool("roots", async ({ requestInput }) => JSON.stringify(await requestInput({ roots: { method: "roots/list" } }))),
];

const taskTools: readonly Tool[] = [
  tool("paints", () => "painted", { task: "optional" }),
  tool("builds", () => ({ structuredContent: { floors: 2 } }), { task: { support: "required", ttlMs: 60_000 } }),
  tool("stands", ({ signal }) => aborted(signal), { task: "optional" }),
  tool("cracks", () => Promise.reject(new Error("the password is hunter2")), { task: "optional" }),
  tool("furnishes", async ({ requestInput }) => JSON.stringify(await requestInput({ colour: form("colour") })), {
    task: "optional",
  }),
];
