import type { JsonValue, WireError } from "@berth/jsonrpc-framing";
import { gateErrors } from "../wire-errors.js";

/** The one revision of MCP that plugins speak (PROTOCOL.md § 5). */
export const mcpRevision = "2026-07-28";
export const versionKey = "io.modelcontextprotocol/protocolVersion";
export const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

/**
 * What has to hold before an MCP library sees a request, in the order of PROTOCOL.md § 5; undefined when it does. Pure. The host asks it before it sends, and
 * the plugin asks the same again.
 * @param params Of the request, as `JSON.parse` reads them; only `_meta` and `protocolVersion` are looked at.
 */
export function checkMcpRequest(method: string, params: unknown): WireError | undefined {
  const meta = member(params, "_meta");
  if (!isObject(meta)) {
    return invalid(`params._meta is missing or not an object: it needs ${versionKey} and ${capabilitiesKey}`);
  }
  const version = member(meta, versionKey);
  if (typeof version !== "string") return invalid(`params._meta["${versionKey}"] is missing or not a string`);
  if (!isObject(member(meta, capabilitiesKey))) {
    return invalid(`params._meta["${capabilitiesKey}"] is missing or not an object`);
  }
  if (version !== mcpRevision) return unsupported(version);
  if (method !== "initialize") return undefined;
  const asked = member(params, "protocolVersion");
  return unsupported(typeof asked === "string" ? asked : version);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Own members only: `_meta` must not be found in a prototype. */
function member(value: unknown, key: string): unknown {
  if (!isObject(value)) return undefined;
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

function invalid(message: string): WireError {
  return { code: gateErrors.invalidParams, message };
}

function unsupported(requested: string): WireError {
  const data: JsonValue = { supported: [mcpRevision], requested };
  return { code: gateErrors.unsupportedVersion, message: "Unsupported protocol version", data };
}
