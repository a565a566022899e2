import { type JsonObject, wireErrors } from "@berth/jsonrpc-framing";
import { escapeText } from "../pipe/escape-text.js";
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
  const plugin = terms.name;

  /** @throws {ProcessPluginError} `PLUGIN_NOT_RUNNING`. */
  const requireState = (action: "call" | "health"): void => {
    const refused = life.refusal(action);
    if (refused !== undefined) throw refused;
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
      requireState("call");
      return awaitAnswer({ plugin, method, signal, send: (onEnd) => mcp.ask(method, params, onEnd) });
    },
    invokeHook: async (call, { signal } = {}) => {
      requireState("call");
      requireHook(capabilities, call, plugin);
      return ave.invokeHook(call, signal);
    },
    health: async ({ signal } = {}) => {
      requireState("health");
      if (!capabilities.health) throw unserved(plugin, "health");
      return ave.health(signal);
    },
    openMcp: () => mcp.openClient(),
    close: life.close,
    kill: life.kill,
    [Symbol.asyncDispose]: life.close,
  };
}

/** @throws {ProcessPluginError} `PLUGIN_NOT_RUNNING`, `REQUEST_INVALID`: a plugin is asked only for what it said that it takes. */
function requireHook({ hooks }: Capabilities, { hook_type: hook }: JsonObject, plugin: string): void {
  if (hooks.length === 0) throw unserved(plugin, "hooks");
  if (typeof hook === "string" && hooks.includes(hook)) return;
  const wire = { code: wireErrors.invalidParams, message: `hook_type is none of ${hooks.join(", ")}` };
  throw pluginFault(plugin, "REQUEST_INVALID", `does not take this hook: ${escapeText(wire.message)}`, { wire });
}

function unserved(plugin: string, what: string): Error {
  return pluginFault(plugin, "PLUGIN_NOT_RUNNING", `does not serve ${what}`);
}
