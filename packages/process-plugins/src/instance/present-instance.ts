import type { JsonObject } from "@berth/jsonrpc-framing";
import { ProcessPluginError } from "../errors.js";
import { pluginFault } from "../pipe/plugin-fault.js";
import type { Capabilities } from "./ave-answers.js";
import { awaitAnswer } from "./await-answer.js";
import type { HeldProcess } from "./hold-process.js";
import type { PluginInstance } from "./instance.js";
import type { InstanceTerms } from "./instance-terms.js";

/** The instance as its host sees it. */
export function presentInstance(
  terms: InstanceTerms,
  { process, life, ave, mcp, stderr }: HeldProcess,
  capabilities: Capabilities,
): PluginInstance {
  const plugin = terms.plugin.manifest.name;

  /** @throws {ProcessPluginError} `PLUGIN_NOT_RUNNING`. */
  const require = (action: "call" | "health", isServed: boolean, what: string): void => {
    const refused = life.refusal(action);
    if (refused !== undefined) throw refused;
    if (!isServed) throw pluginFault(plugin, "PLUGIN_NOT_RUNNING", `does not serve ${what}`);
  };
  return {
    id: terms.instanceId,
    name: plugin,
    confinement: process.confinement,
    capabilities,
    ended: life.ended,
    get state() {
      return life.state;
    },
    get stderrBytes() {
      return stderr.byteCount;
    },
    request: async (method, params, { signal } = {}) => {
      require("call", capabilities.mcp, "MCP");
      return awaitAnswer({ plugin, method, signal, send: (onEnd) => mcp.ask(method, params, onEnd) });
    },
    invokeHook: async (call, { signal } = {}) => {
      require("call", capabilities.hooks.length > 0, "hooks");
      requireHook(capabilities, call, plugin);
      return ave.invokeHook(call, signal);
    },
    health: async ({ signal } = {}) => {
      require("health", capabilities.health, "health");
      return ave.health(signal);
    },
    openMcp: () => mcp.openClient(),
    close: life.close,
    kill: life.kill,
    [Symbol.asyncDispose]: life.close,
  };
}

/** @throws {ProcessPluginError} `REQUEST_INVALID`: a plugin is asked only for what it said that it takes. */
function requireHook({ hooks }: Capabilities, { hook_type: hook }: JsonObject, plugin: string): void {
  if (typeof hook === "string" && hooks.includes(hook)) return;
  throw new ProcessPluginError("REQUEST_INVALID", `plugin ${plugin} takes the hooks ${hooks.join(", ")}`, { plugin });
}
