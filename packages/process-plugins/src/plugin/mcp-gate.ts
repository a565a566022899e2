import { gateErrors } from "../wire-errors.js";
import { type Answer, invalidParams, isJson } from "./wire.js";

/** The revision of MCP that plugins serve. */
export const mcpVersion = "2026-07-28";

const versionKey = "io.modelcontextprotocol/protocolVersion";
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

/** The answer of the gate in front of everything of MCP (PROTOCOL.md § 5); `undefined` lets the request through. */
export function mcpGate(method: string, params: unknown): Answer | undefined {
  const meta = isJson(params) ? params["_meta"] : undefined;
  if (!isJson(params) || !isJson(meta))
    return invalidParams(`params._meta is missing or not an object: it needs ${versionKey} and ${capabilitiesKey}`);
  const version = meta[versionKey];
  if (typeof version !== "string") return invalidParams(`params._meta["${versionKey}"] is missing or not a string`);
  if (!isJson(meta[capabilitiesKey]))
    return invalidParams(`params._meta["${capabilitiesKey}"] is missing or not an object`);
  if (version !== mcpVersion) return unsupported(version);
  if (method !== "initialize") return undefined;
  const asked = params["protocolVersion"];
  return unsupported(typeof asked === "string" ? asked : version);
}

function unsupported(requested: string): Answer {
  const data = { supported: [mcpVersion], requested };
  return { error: { code: gateErrors.unsupportedVersion, message: "Unsupported protocol version", data } };
}
