import type { JsonObject } from "@berth/jsonrpc-framing";
import { capabilitiesKey, mcpRevision, versionKey } from "../../pipe/gate.js";

/** How the host of a check names itself. */
export const checkHost = { name: "berth-check", version: "1" } as const;
const clientInfoKey = "io.modelcontextprotocol/clientInfo";
/** Told to the plugin; part of each transcript. */
export const toldLimits = { maxMessageBytes: 4_194_304, callTimeoutMs: 60_000 } as const;
export const toldStopMs = 5_000;

/** The members that each MCP request of a check has. */
export const checkMeta: JsonObject = {
  [versionKey]: mcpRevision,
  [capabilitiesKey]: {},
  [clientInfoKey]: checkHost,
};

/** Params with the members that MCP wants, where they have none of their own. */
export function withMeta(params: JsonObject): JsonObject {
  return { _meta: checkMeta, ...params };
}

/** A hook in wire form, as CPEX has it. */
export function hookParams(hook: string, payload: JsonObject[string]): JsonObject {
  const context = {
    state: {},
    global_context: { request_id: checkHost.name, state: {}, metadata: {} },
    metadata: {},
  };
  return { hook_type: hook, payload, context };
}
