import { z } from "zod";

/**
 * A client written for the original server, from the description of its wire behaviour alone: MCP over POST, of whose
 * answers it reads the first `data: ` line, and REST.
 */
export interface OriginalClient {
  readonly protocolVersion: string;
  tools(): Promise<ReadonlyMap<string, Tool>>;
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
  /** Runs code by MCP; its text. */
  run(command: string, session_id?: string): Promise<string>;
  rest(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: RestBody }>;
}

const tool = z.looseObject({
  name: z.string(),
  inputSchema: z.looseObject({ properties: z.record(z.string(), z.unknown()) }),
  outputSchema: z.looseObject({ type: z.literal("object") }),
});
type Tool = z.infer<typeof tool>;
const session = z.object({ session_id: z.string(), status: z.string(), created_at: z.string() });
const toolAnswer = z.object({
  isError: z.boolean().default(false),
  content: z.array(z.object({ type: z.literal("text"), text: z.string() })),
  structuredContent: z
    .object({ result: z.union([z.string(), z.array(session)]) })
    .or(session)
    .optional(),
});
type ToolAnswer = z.infer<typeof toolAnswer>;
const restBody = z.object({
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  execution_time: z.number().optional(),
  cpu_time: z.number().optional(),
  session_id: z.string().optional(),
  status: z.string().optional(),
  created_at: z.string().optional(),
  sessions: z.array(session).optional(),
  error: z.string().optional(),
});
type RestBody = z.infer<typeof restBody>;

const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };

export async function openOriginalClient(base: string): Promise<OriginalClient> {
  let id = 0;
  let mcpSession: Record<string, string> = {};
  const post = (message: object): Promise<Response> =>
    fetch(`${base}/mcp`, { method: "POST", headers: { ...headers, ...mcpSession }, body: JSON.stringify(message) });
  const request = async (method: string, params: object): Promise<unknown> => {
    id += 1;
    const response = await post({ jsonrpc: "2.0", id, method, params });
    if (response.status !== 200) throw new Error(`${method} was answered with ${response.status}`);
    const mcpSessionId = response.headers.get("mcp-session-id");
    if (mcpSessionId !== null) mcpSession = { "mcp-session-id": mcpSessionId };
    const line = (await response.text()).split("\n").find((text) => text.startsWith("data: "));
    const answer = z.looseObject({ result: z.unknown() }).parse(JSON.parse(line?.slice("data: ".length) ?? ""));
    if (answer.result === undefined) throw new Error(`${method} was answered with ${JSON.stringify(answer)}`);
    return answer.result;
  };
  const clientInfo = { name: "contract", version: "1" };
  const opened = await request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  const told = await post({ jsonrpc: "2.0", method: "notifications/initialized" });
  if (told.status !== 202) throw new Error(`the notification was answered with ${told.status}`);
  const call = async (name: string, args: Readonly<Record<string, unknown>>): Promise<ToolAnswer> =>
    toolAnswer.parse(await request("tools/call", { name, arguments: args }));
  return {
    protocolVersion: z.object({ protocolVersion: z.string() }).parse(opened).protocolVersion,
    async tools() {
      const { tools } = z.object({ tools: z.array(tool) }).parse(await request("tools/list", {}));
      return new Map(tools.map((one) => [one.name, one]));
    },
    call,
    async run(command, session_id) {
      const { content } = await call(
        "execute_python_code",
        session_id === undefined ? { command } : { command, session_id },
      );
      return content[0]?.text ?? "";
    },
    async rest(method, path, body) {
      const text =
        body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
      const response = await fetch(`${base}${path}`, { method, ...text });
      return { status: response.status, body: restBody.parse(await response.json()) };
    },
  };
}
