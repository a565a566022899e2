import type { PluginEntry, PluginsConfig } from "@berth/venv-host/executor";

/** Plugins that are not switched off. */
export function enabledPlugins({ plugins }: PluginsConfig): readonly PluginEntry[] {
  return plugins.filter(({ mode }) => mode !== "disabled");
}
