import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";
import { mcpErrors } from "../wire-errors.js";
import { readHeaderValue, withoutBlanks } from "./header-value.js";

/** The headers of an HTTP request, by lower-case name. */
export type Headers = (name: string) => string | undefined;

/**
 * `MCP-Protocol-Version` has to repeat what the body says (MCP 2026-07-28, Transports § Streamable HTTP): proxies go by the header. A version
 * that is no string is left to whoever reads the body.
 * @throws {RpcError} -32020
 */
export function requireVersionHeader(headers: Headers, metaVersion: JsonValue | undefined): void {
  if (typeof metaVersion !== "string") return;
  const header = headers("mcp-protocol-version");
  if (header === undefined) throw headerMismatch("MCP-Protocol-Version is missing");
  if (withoutBlanks(header) !== metaVersion) throw headerMismatch("MCP-Protocol-Version differs from the body");
}

/** Which parameter `Mcp-Name` repeats. */
const nameSources: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/**
 * `Mcp-Method` and, where the method has one, `Mcp-Name`.
 * @throws {RpcError} -32020
 */
export function requireStandardHeaders(headers: Headers, method: string, params: JsonObject): void {
  const told = headers("mcp-method");
  if (told === undefined) throw headerMismatch("Mcp-Method is missing");
  if (withoutBlanks(told) !== method) throw headerMismatch("Mcp-Method differs from the body");
  const source = Object.hasOwn(nameSources, method) ? nameSources[method] : undefined;
  const expected = source === undefined ? undefined : params[source];
  if (typeof expected !== "string") return; // none to repeat, or one that the method itself refuses
  const name = headers("mcp-name");
  if (name === undefined) throw headerMismatch("Mcp-Name is missing");
  const read = readHeaderValue(name);
  if (read === undefined) throw headerMismatch("Mcp-Name is malformed");
  if (read !== expected) throw headerMismatch("Mcp-Name differs from the body");
}

export function headerMismatch(message: string): RpcError {
  return new RpcError(mcpErrors.headerMismatch, message);
}
