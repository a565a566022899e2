import type { PluginKind, RunningPlugin } from "@berth/venv-host/executor";
import { isSilence } from "./plugin-words.js";
import type { PluginWatch } from "./watch-plugins.js";

/** The same kind, whose hooks tell the watch what came of them: a plugin that answers none is started anew. */
export function noticeSilence(kind: PluginKind, watch: Pick<PluginWatch, "called">): PluginKind {
  return {
    name: kind.name,
    check: (entry) => kind.check(entry),
    open: async (entry, options) => noticed(await kind.open(entry, options), watch),
  };
}

function noticed(plugin: RunningPlugin, watch: Pick<PluginWatch, "called">): RunningPlugin {
  const called = (came: "answered" | "silent"): void => {
    const instance = plugin.evidence?.["instance"];
    if (typeof instance === "string") watch.called(instance, came);
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
        throw error;
      }
    },
    health: (wait) => plugin.health(wait),
    close: () => plugin.close(),
    [Symbol.asyncDispose]: () => plugin.close(),
  };
}
