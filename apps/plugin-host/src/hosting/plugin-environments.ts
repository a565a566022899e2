import { join } from "node:path";
import {
  type AcquireOptions,
  type AcquirePluginEnvironment,
  claimInstalledEnvironment,
  type EnvironmentRequest,
  type EnvironmentStore,
  findInstalledEnvironment,
  type HeldEnvironment,
  type InstalledVerdict,
  type PluginEnvironment,
  type PluginOfEnvironment,
} from "@berth/venv-host";

/** What a plugin got. */
export type GotEnvironment =
  | { readonly plugin: string; readonly held: HeldEnvironment }
  | { readonly plugin: string; readonly installed: string };

/** How environments are found, and who is told. */
export interface PluginEnvironmentsOptions {
  readonly store: Pick<EnvironmentStore, "acquire">;
  /** Before the plugin is started; a rejection keeps it from starting. */
  readonly onGot: (got: GotEnvironment) => Promise<void>;
}

/** One that another host installed into the plugin's own folder, when it is valid; else from the store. */
export function pluginEnvironments({ store, onGot }: PluginEnvironmentsOptions): AcquirePluginEnvironment {
  return async (request, options, plugin) => {
    const installed = await findInstalledEnvironment(plugin);
    if (installed.verdict === "valid") return useInstalled(installed.path, plugin, options, onGot);
    if (isWorthTelling(installed.verdict)) {
      options.onProgress?.(`${installed.path} is not used: ${installed.verdict}`);
    }
    return useStore(store, request, plugin, options, onGot);
  };
}

/** Nobody installed anything there: nothing to explain. */
function isWorthTelling(verdict: InstalledVerdict): boolean {
  return verdict !== "venv missing" && verdict !== "metadata missing";
}

async function useInstalled(
  path: string,
  plugin: PluginOfEnvironment,
  { signal, onProgress }: AcquireOptions,
  onGot: PluginEnvironmentsOptions["onGot"],
): Promise<PluginEnvironment> {
  onProgress?.(`using ${path}, as it was installed`);
  const claim = await claimInstalledEnvironment(plugin, { signal });
  try {
    await onGot({ plugin: plugin.name, installed: path });
  } catch (error) {
    await claim.close();
    throw error;
  }
  return { path, python: join(path, "bin", "python"), close: claim.close };
}

async function useStore(
  store: Pick<EnvironmentStore, "acquire">,
  request: EnvironmentRequest,
  plugin: PluginOfEnvironment,
  options: AcquireOptions,
  onGot: PluginEnvironmentsOptions["onGot"],
): Promise<PluginEnvironment> {
  const held = await store.acquire(request, options);
  try {
    if (held.reason !== undefined) options.onProgress?.(`built anew: ${held.reason}`);
    await onGot({ plugin: plugin.name, held });
  } catch (error) {
    await held.close();
    throw error;
  }
  return held;
}
