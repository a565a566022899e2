import { ownMember } from "./bounded-json.js";
import type { JsonObject } from "./json.js";
import type { PluginCall } from "./plugin-call.js";
import type { PluginKind, RunningPlugin, WaitOptions } from "./plugin-kind.js";
import { readPluginReply } from "./plugin-reply.js";

/** A hook of a plugin of this process. What it returns is an answer in wire form: `{ continue_processing: false, … }`. */
export type InProcessHook = (call: PluginCall, wait: WaitOptions) => unknown;

/** A plugin that is code of the host itself. */
export interface InProcessPlugin {
  readonly hooks: Readonly<Record<string, InProcessHook>>;
  /** Called once, before the first hook; with the entry's `config`. */
  readonly open?: ((config: JsonObject | undefined, wait: WaitOptions) => void | Promise<void>) | undefined;
  readonly close?: (() => void | Promise<void>) | undefined;
}

/**
 * A kind whose plugins are functions of this process, each for the entry of its name. It confines nothing: a plugin has all
 * that the process has. What calls give it is frozen; what it returns is read as that of any other plugin.
 */
export function inProcess(name: string, plugins: Readonly<Record<string, InProcessPlugin>>): PluginKind {
  return {
    name,
    check(entry) {
      const plugin = ownMember(plugins, entry.name);
      if (plugin === undefined) return [`kind ${name} has no plugin ${entry.name}`];
      const missing = entry.hooks.filter((hook) => !Object.hasOwn(plugin.hooks, hook));
      return missing.map((hook) => `hooks: it has no hook ${hook}`);
    },
    async open(entry, { signal }) {
      const plugin = ownMember(plugins, entry.name);
      if (plugin === undefined) throw new Error(`there is no plugin ${entry.name}`);
      await plugin.open?.(entry.config, { signal });
      return runInProcess(plugin);
    },
  };
}

function runInProcess(plugin: InProcessPlugin): RunningPlugin {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => plugin.close?.())();
    return closing;
  };
  return {
    evidence: undefined,
    async call(call, wait) {
      const hook = ownMember(plugin.hooks, call.hook);
      if (hook === undefined) throw new Error(`there is no hook ${call.hook}`);
      return readPluginReply(await hook(call, wait), call.hook);
    },
    health: async () => ({ state: "ready", message: "runs in this process" }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
