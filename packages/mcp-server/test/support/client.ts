import type { JsonObject } from "@berth/jsonrpc-framing";
import type { Connection, JsonRpcResponse, McpServer } from "../../src/index.js";

/** A client without a transport: asks a server of strings as principals, and keeps what the server sends by itself. */
export interface TestClient {
  readonly connection: Connection;
  /** Messages that the server sent of its own. */
  readonly sent: JsonObject[];
  ask(method: string, params?: JsonObject, id?: string | number): Promise<JsonRpcResponse | undefined>;
  /** In 2026-07-28, with these capabilities. */
  askModern(
    method: string,
    params?: JsonObject,
    capabilities?: JsonObject,
    meta?: JsonObject,
  ): Promise<JsonRpcResponse | undefined>;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Sends an answer to one of the server's questions. */
  reply(message: JsonObject): Promise<void>;
  initialize(revision?: string, capabilities?: JsonObject): Promise<JsonRpcResponse | undefined>;
}

export function openClient(server: McpServer<string>, principal = "ada"): TestClient {
  const sent: JsonObject[] = [];
  const connection = server.openConnection({
    send: (bytes) => void sent.push(JSON.parse(Buffer.from(bytes).toString())),
  });
  let lastId = 0;
  const ask: TestClient["ask"] = (method, params, id = ++lastId) =>
    server.handle({ jsonrpc: "2.0", id, method, ...(params && { params }) }, { principal, connection });
  return {
    connection,
    sent,
    ask,
    askModern: (method, params = {}, capabilities = {}, meta = {}) =>
      ask(method, {
        ...params,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": capabilities,
          ...meta,
        },
      }),
    async notify(method, params) {
      await server.handle({ jsonrpc: "2.0", method, ...(params && { params }) }, { principal, connection });
    },
    async reply(message) {
      await server.handle(message, { principal, connection });
    },
    initialize: (protocolVersion = "2025-11-25", capabilities = {}) =>
      ask("initialize", { protocolVersion, capabilities, clientInfo: { name: "test", version: "1" } }),
  };
}

/** The result, or an error that shows what came instead. */
export function resultOf(response: JsonRpcResponse | undefined): JsonObject {
  if (response !== undefined && "result" in response) return response.result;
  throw new Error(`no result: ${JSON.stringify(response)}`);
}

export function errorOf(response: JsonRpcResponse | undefined): { code: number; message: string; data?: unknown } {
  if (response !== undefined && "error" in response) return response.error;
  throw new Error(`no error: ${JSON.stringify(response)}`);
}
