import { isProcessPluginError, ProcessPluginError } from "@berth/process-plugins";
import type { PluginKind, RunningPlugin } from "@berth/venv-host/executor";
import { isSilence, wordsForClients } from "./plugin-words.js";
import type { PluginWatch } from "./watch-plugins.js";

export interface NoticeOptions {
  readonly watch: Pick<PluginWatch, "called" | "tellStart">;
  /** Reasons go to clients, who get a code and the plugin's name; the operator is told the rest. Else they are the operator's own. */
  readonly forClients: boolean;
}

/** The same kind, whose hooks tell the watch what came of them: a plugin that answers none is started anew. */
export function noticeSilence(kind: PluginKind, options: NoticeOptions): PluginKind {
  return {
    name: kind.name,
    check: (entry) => kind.check(entry),
    open: async (entry, wait) => {
      try {
        return noticed(entry.name, await kind.open(entry, wait), options);
      } catch (error) {
        wait.signal?.throwIfAborted();
        options.watch.tellStart(entry.name, error); // also hooks that it does not take
        throw forClientsOf(entry.name, error, options);
      }
    },
  };
}

function forClientsOf(plugin: string, error: unknown, { forClients }: NoticeOptions): unknown {
  if (!forClients || !isProcessPluginError(error)) return error;
  return new ProcessPluginError(error.code, wordsForClients(plugin, error.code), { plugin });
}

function noticed(name: string, plugin: RunningPlugin, options: NoticeOptions): RunningPlugin {
  const called = (came: "answered" | "silent"): void => {
    const instance = plugin.evidence?.["instance"];
    if (typeof instance === "string") options.watch.called(instance, came);
  };
  return {
    get evidence() {
      return plugin.evidence;
    },
    call: async (call, wait) => {
      try {
        const reply = await plugin.call(call, wait);
        called("answered");
        return reply;
      } catch (error) {
        // The executor ends a wait of its own with a reason of the same code.
        if (isSilence(error)) called("silent");
        throw forClientsOf(name, error, options);
      }
    },
    health: (wait) => plugin.health(wait),
    close: () => plugin.close(),
    [Symbol.asyncDispose]: () => plugin.close(),
  };
}
