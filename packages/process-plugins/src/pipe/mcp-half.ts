import { type Envelope, type JsonObject, type Span, splice } from "@berth/jsonrpc-framing";
import type { Transport } from "@berth/stdio-transport";
import type { ProcessPluginError } from "../errors.js";
import type { CallEnd } from "./call-table.js";
import { answerFor, errorAnswer, put, wireOf } from "./mcp-answer.js";
import { deliverNotification, findCall, type McpCall } from "./mcp-calls.js";
import { createMcpClient, type McpClient } from "./mcp-client.js";
import { type McpRequest, readMcpFrame } from "./mcp-request.js";
import { pluginFault } from "./plugin-fault.js";
import type { PluginPipe } from "./plugin-pipe.js";
import { requestJson } from "./request-json.js";

/** The MCP half of one plugin: any number of clients and the host itself, whose ids and progress tokens never meet. */
export interface McpHalf {
  openClient(): Transport;
  /**
   * One request of the host itself.
   * @param onEnd Told the result's bytes, or why there is none.
   * @returns What cancels it.
   * @throws {ProcessPluginError} `REQUEST_INVALID`, `PLUGIN_NOT_RUNNING`, `TOO_MANY_CALLS`. Nothing was sent.
   */
  ask(method: string, params: JsonObject, onEnd: (end: CallEnd) => void): () => void;
  /** A notification of the plugin that is not of `ave/`. False where it is for nobody. */
  onNotification(method: string, bytes: Uint8Array, envelope: Envelope): boolean;
  /** Ends all clients. What they asked has ended before. */
  end(cause: ProcessPluginError): void;
}

/** What the half is made of. */
export interface McpHalfOptions {
  readonly pipe: Pick<PluginPipe, "call" | "cancel" | "notify">;
  /** Why nothing may be asked now. */
  readonly refusal: () => ProcessPluginError | undefined;
  readonly plugin: string;
  readonly callTimeoutMs: number;
  readonly maxMessageBytes: number;
}

export function createMcpHalf(options: McpHalfOptions): McpHalf {
  const { pipe, plugin, callTimeoutMs, maxMessageBytes } = options;
  const calls = new Map<number, McpCall>();
  const clients = new Set<McpClient>();
  let ended: ProcessPluginError | undefined;

  /** What waits for the answer must not hold the request, which may be large. */
  const ending =
    (onEnd: (end: CallEnd, id: number) => void) =>
    (end: CallEnd, id: number): void => {
      calls.delete(id);
      onEnd(end, id);
    };
  const send = (request: McpRequest, client: McpClient | undefined, onEnd: (end: CallEnd, id: number) => void) => {
    const refused = options.refusal();
    if (refused !== undefined) throw refused;
    const { method, isListening, wantsLog } = request;
    const timeoutMs = isListening ? undefined : callTimeoutMs;
    const sent = pipe.call({ method, frame: frameOf(request), timeoutMs, onEnd: ending(onEnd) });
    const token = request.token && copy(request.bytes, request.token);
    calls.set(sent.id, { client, isListening, wantsLog, id: copy(request.bytes, request.id), token });
    return sent;
  };
  const take = async (bytes: Uint8Array, client: McpClient): Promise<void> => {
    const frame = readMcpFrame(bytes);
    if (frame.kind === "request") return takeRequest(frame, client);
    if (frame.kind === "notification") return takeNotification(frame.method, bytes, frame.envelope, client);
    if (frame.kind === "refused") await answerLater(client, errorAnswer(frame.id, frame.wire));
  };
  const takeRequest = async (request: McpRequest, client: McpClient): Promise<void> => {
    const id = copy(request.bytes, request.id);
    const onEnd = (end: CallEnd, ours: number): void => {
      if (end.kind === "answered") client.deliver(answerFor(end.bytes, end.envelope, ours, id));
      else if (end.kind !== "cancelled") client.deliver(errorAnswer(id, wireOf(causeOf(end, plugin))));
    };
    try {
      await send(request, client, onEnd).sent;
    } catch (error) {
      await answerLater(client, errorAnswer(id, wireOf(error)));
    }
  };
  const takeNotification = async (method: string, bytes: Uint8Array, { members }: Envelope, client: McpClient) => {
    if (method === "notifications/cancelled") {
      const named = members?.get("requestId");
      const ours = named && findCall(calls, client, bytes.subarray(named.start, named.end));
      if (ours !== undefined) pipe.cancel(ours);
    } else if (!method.startsWith("ave/") && options.refusal() === undefined) {
      await pipe.notify(bytes).catch(() => {}); // nobody waits for a notification: what ended the plugin is told to all
    }
  };
  const onClosed = (client: McpClient): void => {
    clients.delete(client);
    for (const [id, call] of [...calls]) if (call.client === client) pipe.cancel(id);
  };
  return {
    openClient: () => {
      const maxHeldBytes = Math.max(2 * maxMessageBytes, leastHeldBytes);
      const client = createMcpClient({ maxMessageBytes, maxHeldBytes, take, onClosed });
      clients.add(client);
      if (ended !== undefined) client.finish(ended);
      return client.transport;
    },
    ask: (method, params, onEnd) => {
      const request = requestOf(method, params, maxMessageBytes, plugin);
      const { id } = send(request, undefined, onEnd);
      return () => void pipe.cancel(id);
    },
    onNotification: (method, bytes, envelope) => deliverNotification({ calls, clients }, method, bytes, envelope),
    end: (cause) => {
      ended ??= cause;
      for (const client of [...clients]) client.finish(cause);
    },
  };
}

const leastHeldBytes = 1_048_576;

function frameOf({ bytes, id, token }: McpRequest): (ours: number) => Uint8Array {
  const places = token === undefined ? [id] : [id, token];
  return (ours) => {
    const number = Buffer.from(String(ours));
    return splice(
      bytes,
      places.map((place) => put(place, number)),
    );
  };
}

function copy(bytes: Uint8Array, { start, end }: Span): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes, start, end);
}

/** Never while `send` of the client runs: a receiver must not be called inside its own call. */
async function answerLater(client: McpClient, bytes: Uint8Array): Promise<void> {
  await Promise.resolve();
  client.deliver(bytes);
}

/** Why a call has no answer. */
export function causeOf(end: Exclude<CallEnd, { kind: "answered" }>, plugin: string): Error {
  if (end.kind === "failed") return end.cause;
  if (end.kind === "timeout") return pluginFault(plugin, "PLUGIN_TIMEOUT", "gave no answer in time");
  return pluginFault(plugin, "REQUEST_INVALID", "was told that the call is cancelled");
}

function requestOf(method: string, params: JsonObject, maxMessageBytes: number, plugin: string): McpRequest {
  const json = requestJson(plugin, params);
  const bytes = Buffer.from(`{"jsonrpc":"2.0","id":0,"method":${JSON.stringify(method)},"params":${json}}`, "utf8");
  if (bytes.length > maxMessageBytes) {
    const words = `takes requests of at most ${maxMessageBytes} bytes, not ${bytes.length}`;
    throw pluginFault(plugin, "REQUEST_INVALID", words);
  }
  const frame = readMcpFrame(bytes);
  if (frame.kind === "request") return frame;
  const wire = frame.kind === "refused" ? frame.wire : undefined;
  throw pluginFault(plugin, "REQUEST_INVALID", `gets no such request: ${wire?.message}`, { wire });
}
