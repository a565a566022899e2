import type { PluginEntry, PluginsConfig } from "@berth/venv-host/executor";
import { callHookNames } from "./call-hooks.js";
import { enabledPlugins } from "./enabled-plugins.js";

/** Something that a plugin is never asked at a gateway. */
export interface Unasked {
  readonly plugin: string;
  readonly message: string;
}

/** What plugins of a file wait for in vain: a policy that is never asked is worse than none. */
export function findUnasked(config: PluginsConfig): readonly Unasked[] {
  return enabledPlugins(config).flatMap((entry) => [...unusedHooks(entry), ...unmetConditions(entry)]);
}

function unusedHooks({ name, hooks }: PluginEntry): readonly Unasked[] {
  const unused = hooks.filter((hook) => !callHookNames.includes(hook));
  if (unused.length === 0) return [];
  return [{ plugin: name, message: `a gateway does not run its ${unused.join(", ")}: there is no such step here` }];
}

/** A client of a gateway is not asked who it is, and calls of MCP have no tenant and no content type. */
function unmetConditions({ name, conditions }: PluginEntry): readonly Unasked[] {
  const mayHold = conditions.map(
    ({ userPatterns = [], tenantIds = [], contentTypes = [] }) =>
      userPatterns.length + tenantIds.length + contentTypes.length === 0,
  );
  if (mayHold.length === 0 || mayHold.includes(true)) return [];
  const message =
    "it is never asked: each of its conditions wants a user, a tenant or a content type, and calls of a gateway have none";
  return [{ plugin: name, message }];
}
