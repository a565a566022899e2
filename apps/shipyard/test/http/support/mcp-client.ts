import { z } from "zod";
import type { Served } from "./served.js";

const message = z.looseObject({
  id: z.unknown().optional(),
  method: z.string().optional(),
  params: z.any().optional(),
  result: z.any().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});
type Message = z.infer<typeof message>;

/** A client of the handshake era that reads streams only, and of each the first `data: ` line, as the original's does. */
export interface McpClient {
  readonly sessionId: string;
  readonly revision: string;
  /** The first event of the answer. */
  request(method: string, params?: unknown): Promise<Message>;
  /** All events of the answer. */
  events(method: string, params?: unknown): Promise<readonly Message[]>;
  call(name: string, args: unknown, meta?: unknown): Promise<Message>;
}

const accept = { "content-type": "application/json", accept: "application/json, text/event-stream" };

export async function openMcp(served: Pick<Served, "send">, revision = "2025-06-18", headers = {}): Promise<McpClient> {
  let id = 0;
  let sessionId = "";
  const post = async (method: string, params: unknown): Promise<Response> => {
    id += 1;
    const own = sessionId === "" ? {} : { "mcp-session-id": sessionId, "mcp-protocol-version": revision };
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    return served.send("/mcp", { method: "POST", body, headers: { ...accept, ...headers, ...own } });
  };
  const events = async (method: string, params: unknown = {}): Promise<readonly Message[]> => {
    const response = await post(method, params);
    if (response.headers.get("content-type") !== "text/event-stream") throw new Error("the answer is no stream");
    const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: "));
    return lines.map((line) => message.parse(JSON.parse(line.slice("data: ".length))));
  };
  const request = async (method: string, params?: unknown): Promise<Message> => {
    const [first] = await events(method, params);
    if (first === undefined) throw new Error("the answer holds no event");
    return first;
  };
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const opened = await post("initialize", params);
  sessionId = opened.headers.get("mcp-session-id") ?? "";
  const line = (await opened.text()).split("\n").find((text) => text.startsWith("data: ")) ?? "";
  const answer = message.parse(JSON.parse(line.slice("data: ".length)));
  await served.send("/mcp", {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
    headers: { ...accept, ...headers, "mcp-session-id": sessionId },
  });
  return {
    sessionId,
    revision: answer.result.protocolVersion,
    request,
    events,
    call: (name, args, meta) =>
      request("tools/call", { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) }),
  };
}
