import { createMcpServer, defineTool, type McpServer, type McpServerOptions } from "../../src/index.js";

export class SafeError extends Error {}

/** A server with a tool for each behaviour; everybody may use what needs "use", only root what needs "admin". */
export function sampleServer(more: Partial<McpServerOptions<string>> = {}): McpServer<string> {
  return createMcpServer<string>({
    identity: { name: "sample", version: "1.2.3", title: "Sample", description: "for tests" },
    instructions: "Be kind.",
    authorize: ({ principal, permission }) => permission === "use" || principal === "root",
    isSafeError: (error) => error instanceof SafeError,
    tools: sampleTools,
    ...more,
  });
}

const text = {
  type: "object",
  properties: { text: { type: "string" } },
  required: ["text"],
  additionalProperties: false,
} as const;
const nothing = { type: "object", additionalProperties: false } as const;

export const sampleTools = [
  defineTool<string, typeof text>({
    name: "echo",
    title: "Echo",
    description: "Says it again",
    inputSchema: text,
    permission: "use",
    annotations: { readOnlyHint: true },
    icons: [{ src: "https://example.org/echo.png" }],
    handler: ({ arguments: given }) => String(given["text"]),
  }),
  defineTool<string, typeof nothing>({
    name: "sum",
    description: "Has structured output",
    inputSchema: nothing,
    outputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    permission: "use",
    handler: () => ({ structuredContent: { n: 3 } }),
  }),
  defineTool<string, typeof nothing>({
    name: "wrong",
    description: "Breaks its own output schema",
    inputSchema: nothing,
    outputSchema: { type: "object", required: ["n"] },
    permission: "use",
    handler: () => ({ structuredContent: {} }),
  }),
  defineTool<string, typeof nothing>({
    name: "fails",
    description: "Throws what is safe",
    inputSchema: nothing,
    permission: "use",
    handler: () => {
      throw new SafeError("the disk is full");
    },
  }),
  defineTool<string, typeof nothing>({
    name: "breaks",
    description: "Throws what is not safe",
    inputSchema: nothing,
    permission: "use",
    handler: () => {
      throw new Error("the password is hunter2");
    },
  }),
  defineTool<string, typeof nothing>({
    name: "waits",
    description: "Waits for its cancellation",
    inputSchema: nothing,
    permission: "use",
    handler: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  }),
  defineTool<string, typeof nothing>({
    name: "tells",
    description: "Logs and tells progress",
    inputSchema: nothing,
    permission: "use",
    handler: ({ log, progress }) => {
      for (const step of [1, 1, 2]) progress(step, 2);
      log("debug", "fine print");
      log("warning", { hot: true }, "stove");
      return "told";
    },
  }),
  defineTool<string, typeof nothing>({
    name: "asks",
    description: "Asks two rounds",
    inputSchema: nothing,
    permission: "use",
    handler: async ({ requestInput }) => {
      const { name } = await requestInput({ name: form("Who?", "name") });
      const { place } = await requestInput({ place: form("Where?", "place") });
      return JSON.stringify([name?.["content"], place?.["content"]]);
    },
  }),
  defineTool<string, typeof nothing>({
    name: "secret",
    description: "For root",
    inputSchema: nothing,
    permission: "admin",
    handler: () => "gold",
  }),
];

function form(
  message: string,
  field: string,
): { method: "elicitation/create"; params: { [key: string]: never } & object } {
  return JSON.parse(
    JSON.stringify({
      method: "elicitation/create",
      params: {
        mode: "form",
        message,
        requestedSchema: { type: "object", properties: { [field]: { type: "string" } }, required: [field] },
      },
    }),
  );
}
