import { isChainError } from "@berth/audit-chain";
import { wireErrors } from "@berth/jsonrpc-framing";
import { isRpcError, RpcError } from "@berth/mcp-server";
import { isProcessPluginError } from "@berth/process-plugins";
import { isStdioTransportError } from "@berth/stdio-transport";
import { hostErrors } from "../rpc/wire-error.js";
import { isObject } from "./plugin-client.js";
import { wordsForClients } from "./plugin-words.js";

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

/**
 * For `catch`: why a plugin gave no answer, as whoever called may know it. What the plugin itself answered, and any other error, again.
 * @param plugin As the configuration names it.
 */
export function unavailable(plugin: string, error: unknown): unknown {
  if (isChainError(error)) return notRecorded(plugin, error.code);
  if (isProcessPluginError(error)) {
    return error.code === "NOT_RECORDED" ? notRecorded(plugin, error.code) : refusal(plugin, error.code);
  }
  if (isStdioTransportError(error)) {
    if (error.code === "FRAME_TOO_LARGE")
      return new RpcError(wireErrors.invalidParams, `plugin ${plugin} takes no message as large as this`);
    return refusal(plugin, "PLUGIN_EXITED");
  }
  if (!isRpcError(error) || !isObject(error.data)) return error;
  const { reason } = error.data;
  return typeof reason === "string" && reasons.has(reason) ? refusal(plugin, reason) : error;
}

function refusal(plugin: string, code: string): RpcError {
  return new RpcError(pluginUnavailable, wordsForClients(plugin, code), { data: { code } });
}

/** As a hook that is not recorded has it. */
function notRecorded(plugin: string, code: string): RpcError {
  const message = `the call of plugin ${plugin} could not be recorded`;
  return new RpcError(hostErrors.notRecorded, message, { data: { code } });
}
