import { join } from "node:path";
import { isVenvHostError } from "@berth/venv-host";
import type { PluginEntry, PluginKind, RunningPlugin } from "@berth/venv-host/executor";
import { explainFailure } from "./explain.js";

/** What failed in a plugin, in its author's words; `code` is that of the first error. */
export class PluginFault extends Error {
  override readonly name = "PluginFault";
  readonly code: string;
  constructor(code: string, message: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** The same kind, whose plugins say what failed as whoever wrote them would look for it. */
export function explainedKind(kind: PluginKind, cwd: string): PluginKind {
  return {
    name: kind.name,
    check: (entry) => kind.check(entry),
    open: async (entry, options) => explained(await kind.open(entry, options), entry, join(cwd, "plugins")),
  };
}

function explained(plugin: RunningPlugin, entry: PluginEntry, pluginsFolder: string): RunningPlugin {
  const className = String(entry.config?.["class_name"] ?? "").trim();
  return {
    get evidence() {
      return plugin.evidence;
    },
    call: async (call, wait) => {
      try {
        return await plugin.call(call, wait);
      } catch (error) {
        if (!isVenvHostError(error) || error.code !== "WORKER_ERROR") throw error;
        throw new PluginFault(error.code, explainFailure(error.message, { className, pluginsFolder }), error);
      }
    },
    health: (wait) => plugin.health(wait),
    close: () => plugin.close(),
    [Symbol.asyncDispose]: () => plugin.close(),
  };
}
