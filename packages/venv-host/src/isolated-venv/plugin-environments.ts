import { join } from "node:path";
import type {
  AcquireOptions,
  EnvironmentRequest,
  EnvironmentStore,
  HeldEnvironment,
} from "../environments/environment-store.js";
import { claimInstalledEnvironment } from "../installed/claim-installed.js";
import { findInstalledEnvironment } from "../installed/find-installed.js";
import type { InstalledEnvironment, InstalledVerdict } from "../installed/installed-environment.js";
import type { AcquirePluginEnvironment, PluginEnvironment, PluginOfEnvironment } from "./isolated-venv-options.js";

/** What a plugin got: from the store, or at the path where another host installed it. */
export type GotEnvironment =
  | { readonly plugin: string; readonly held: HeldEnvironment }
  | { readonly plugin: string; readonly installed: string };

/** How `pluginEnvironments` finds environments, and who is told. */
export interface PluginEnvironmentsOptions {
  readonly store: Pick<EnvironmentStore, "acquire">;
  /** Before the plugin is started, for the log. One that throws keeps it from starting, and its environment is let go. */
  readonly onGot?: ((got: GotEnvironment) => void | Promise<void>) | undefined;
}

type Told = (got: GotEnvironment) => Promise<void>;

/**
 * For `acquire` of `isolatedVenv`: one that another host installed into the plugin's own folder, while it is valid, and claimed
 * so that this host sees it; else from the store.
 * @throws What `store.acquire`, `findInstalledEnvironment`, `claimInstalledEnvironment` and `onGot` throw; nothing is held then.
 */
export function pluginEnvironments({ store, onGot }: PluginEnvironmentsOptions): AcquirePluginEnvironment {
  const told: Told = async (got) => onGot?.(got);
  return async (request, options, plugin) => {
    const installed = await findInstalledEnvironment(plugin);
    if (installed.verdict === "valid") return useInstalled(installed.path, plugin, options, told);
    if (isWorthTelling(installed.verdict)) {
      options.onProgress?.(`${installed.path} is not used: ${toldVerdict(installed)}`);
    }
    return useStore(store, request, plugin, options, told);
  };
}

/** For people: a verdict, and what is missing. */
function toldVerdict({ verdict, why }: InstalledEnvironment): string {
  return why === undefined ? verdict : `${verdict} (${why})`;
}

/** Nobody installed anything there: nothing to explain. */
function isWorthTelling(verdict: InstalledVerdict): boolean {
  return verdict !== "venv missing" && verdict !== "metadata missing";
}

async function useInstalled(
  path: string,
  plugin: PluginOfEnvironment,
  { signal, onProgress }: AcquireOptions,
  told: Told,
): Promise<PluginEnvironment> {
  onProgress?.(`using ${path}, as it was installed`);
  const claim = await claimInstalledEnvironment(plugin, { signal });
  try {
    await told({ plugin: plugin.name, installed: path });
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
  told: Told,
): Promise<PluginEnvironment> {
  const held = await store.acquire(request, options);
  try {
    if (held.reason !== undefined) options.onProgress?.(`built anew: ${held.reason}`);
    await told({ plugin: plugin.name, held });
  } catch (error) {
    await held.close();
    throw error;
  }
  return held;
}
