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
  /** All events of the answer, each of which is told when it comes. */
  events(method: string, params?: unknown, onEvent?: (event: Message) => void): Promise<readonly Message[]>;
  call(name: string, args: unknown, meta?: unknown): Promise<Message>;
}

/** The messages of an answer that is a stream, as they come. */
async function* eventsOf(response: Response): AsyncGenerator<Message> {
  if (response.headers.get("content-type") !== "text/event-stream") throw new Error("the answer is no stream");
  let rest = "";
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data: ")) yield message.parse(JSON.parse(line.slice("data: ".length)));
    }
  }
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
  const events: McpClient["events"] = async (method, params = {}, onEvent = () => {}) => {
    const all: Message[] = [];
    for await (const event of eventsOf(await post(method, params))) {
      all.push(event);
      onEvent(event);
    }
    return all;
  };
  const request = async (method: string, params?: unknown): Promise<Message> => {
    const [first] = await events(method, params);
    if (first === undefined) throw new Error("the answer holds no event");
    return first;
  };
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const opened = await post("initialize", params);
  sessionId = opened.headers.get("mcp-session-id") ?? "";
  let answer: Message = {};
  for await (const event of eventsOf(opened)) answer = event;
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
