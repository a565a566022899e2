import type { Confine } from "../confine.js";
import type { AcquireOptions, EnvironmentRequest, EnvironmentStore } from "../environments/environment-store.js";
import type { PluginEntry } from "../executor/plugin-config.js";
import { findInstalledEnvironment } from "../installed/find-installed.js";
import type { InstalledVerdict } from "../installed/installed-environment.js";
import { isolatedVenv } from "./isolated-venv.js";
import type { AcquirePluginEnvironment, PluginOfEnvironment } from "./isolated-venv-options.js";

/** Where a plugin would be looked for. */
export interface ForeseeOptions {
  /** Absolute; its folder `plugins` holds the plugins' code. */
  readonly cwd: string;
  readonly store: Pick<EnvironmentStore, "keyOf">;
  /** Keys of the environments that the store has ready, as its `list` says. */
  readonly known: ReadonlySet<string>;
  readonly confine?: Confine | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The environment that a plugin would run in. */
export type ForeseenEnvironment =
  /** As another host installed it. */
  | { readonly state: "installed"; readonly path: string }
  /** From the store, where it is already or has to be built. `passedOver` is one of another host that is not valid. */
  | {
      readonly state: "built" | "absent";
      readonly key: string;
      readonly passedOver:
        | { readonly path: string; readonly verdict: InstalledVerdict; readonly why?: string | undefined }
        | undefined;
    };

/**
 * Says in which environment a plugin of the kind `isolated_venv` would run now, as `pluginEnvironments` would choose it. Nothing is
 * built, started or changed. Rejects with why the plugin cannot run.
 */
export async function foreseeEnvironment(entry: PluginEntry, options: ForeseeOptions): Promise<ForeseenEnvironment> {
  const { store, known, signal } = options;
  const { request, plugin } = await requestOf(entry, options);
  const { verdict, path, why } = await findInstalledEnvironment(plugin);
  if (verdict === "valid") return { state: "installed", path };
  const { digest: key } = await store.keyOf(request, { signal });
  const passedOver = verdict === "venv missing" ? undefined : { path, verdict, why };
  return { state: known.has(key) ? "built" : "absent", key, passedOver };
}

interface Asked {
  readonly request: EnvironmentRequest;
  readonly plugin: PluginOfEnvironment;
}

/** Opens the plugin as far as its environment, to see which one it asks for. */
async function requestOf(entry: PluginEntry, { cwd, confine, signal }: ForeseeOptions): Promise<Asked> {
  let asked: Asked | undefined;
  const enough = new Error("asked");
  const acquire: AcquirePluginEnvironment = (request, _options: AcquireOptions, plugin) => {
    asked = { request, plugin };
    return Promise.reject(enough);
  };
  const kind = isolatedVenv({ acquire, cwd, confine });
  try {
    await using _plugin = await kind.open(entry, { signal, onProgress: () => {}, onLog: () => {} });
  } catch (error) {
    if (error !== enough) throw error;
  }
  if (asked === undefined) throw new Error(`plugin ${entry.name} asks for no environment`);
  return asked;
}
