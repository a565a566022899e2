import { wireErrors } from "@berth/jsonrpc-framing";
import { isRpcError, RpcError } from "@berth/mcp-server";
import { isProcessPluginError } from "@berth/process-plugins";
import { isStdioTransportError } from "@berth/stdio-transport";
import { isObject } from "./plugin-client.js";

/** The plugin could not answer; `data.code` says why. Outside of what JSON-RPC and MCP reserve. */
const pluginUnavailable = -31102;

/** Reasons that the host of a plugin answers in its place. A plugin that answers so itself says only that it is of no use. */
const reasons: ReadonlySet<unknown> = new Set([
  "PLUGIN_EXITED",
  "PLUGIN_PROTOCOL",
  "PLUGIN_TIMEOUT",
  "PLUGIN_NOT_RUNNING",
  "TOO_MANY_CALLS",
]);

/** For `catch`: why a plugin gave no answer, as whoever called may know it. What the plugin itself answered, and any other error, again. */
export function unavailable(error: unknown): unknown {
  // What a plugin's host says of it is made for whoever calls: no output of the plugin is in it.
  if (isProcessPluginError(error)) return refusal(error.message, error.code);
  if (isStdioTransportError(error)) {
    if (error.code === "FRAME_TOO_LARGE")
      return new RpcError(wireErrors.invalidParams, "the plugin takes no message as large as this");
    return refusal("the plugin has ended", "PLUGIN_EXITED");
  }
  if (!isRpcError(error) || !isObject(error.data)) return error;
  const { reason } = error.data;
  return typeof reason === "string" && reasons.has(reason) ? refusal(error.message, reason) : error;
}

function refusal(message: string, code: string): RpcError {
  return new RpcError(pluginUnavailable, message, { data: { code } });
}
