import type { EnvironmentStore } from "../environments/environment-store.js";
import type { PluginEntry } from "../executor/plugin-config.js";
import { type ForeseenEnvironment, type ForeseeOptions, foreseeEnvironment } from "./foresee-environment.js";
import { isolatedVenv } from "./isolated-venv.js";
import { pluginEnvironments } from "./plugin-environments.js";

/** Where a plugin would be looked for, and what holds its environment while it is tried. */
export interface TryPluginOptions extends ForeseeOptions {
  readonly store: Pick<EnvironmentStore, "keyOf" | "acquire">;
}

/**
 * Says in which environment a plugin of the kind `isolated_venv` would run now, as `foreseeEnvironment` does, and where that is
 * there already also tries it: its worker is started once and its class imported, which runs its module's code. Nothing is
 * built, and nothing is left. Rejects with why the plugin cannot run.
 */
export async function tryPlugin(entry: PluginEntry, options: TryPluginOptions): Promise<ForeseenEnvironment> {
  const { cwd, store, confine, signal } = options;
  const foreseen = await foreseeEnvironment(entry, options);
  if (foreseen.state === "absent") return foreseen;
  const kind = isolatedVenv({ acquire: pluginEnvironments({ store }), cwd, confine, importsFirst: true });
  await using _plugin = await kind.open(entry, { signal, onProgress: () => {}, onLog: () => {} });
  return foreseen;
}
