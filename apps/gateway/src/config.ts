import { dirname, resolve } from "node:path";
import { GatewayError } from "./errors.js";
import type { GivenPluginSettings, PluginSettings } from "./plugins/plugin-settings.js";
import { maxConfigBytes, readText } from "./read-text.js";

/** `gateway.yaml` with its defaults filled in; the only form that the rest of the program sees. */
export interface GatewayConfig {
  /** How tools are named for the client. */
  readonly names: "prefixed" | "plain";
  readonly attestation: {
    /** Start servers that are not pinned, as `spawn-unmeasured`. */
    readonly allowUnmeasuredSpawn: boolean;
    /** For servers that say nothing themselves. */
    readonly guard: "recheck" | "snapshot" | "none";
  };
  readonly audit: { readonly durability: "each" | "batch" | "none" };
  /** For servers that say nothing themselves, in milliseconds. */
  readonly deadlines: {
    readonly startMs?: number | undefined;
    readonly listMs?: number | undefined;
    readonly callMs?: number | undefined;
    readonly callMaxMs?: number | undefined;
  };
  /** For servers that say nothing themselves, in bytes. */
  readonly limits: { readonly maxFrameBytes?: number | undefined; readonly maxQueuedBytes?: number | undefined };
  /** Plugins whose hooks are run before and after each call. */
  readonly plugins?: PluginSettings | undefined;
  readonly log: { readonly level: "debug" | "info" | "warn" | "error" };
}

/** As `gateway.yaml` says it. */
export type GivenConfig = Omit<GatewayConfig, "plugins"> & { readonly plugins?: GivenPluginSettings | undefined };

/** What holds without a `gateway.yaml`. */
export const defaultConfig: GatewayConfig = {
  names: "prefixed",
  attestation: { allowUnmeasuredSpawn: false, guard: "recheck" },
  audit: { durability: "batch" },
  deadlines: {},
  limits: {},
  log: { level: "info" },
};

/**
 * Reads `gateway.yaml`; without a path, the defaults. Nothing is looked for anywhere else.
 * @throws {GatewayError} `CONFIG_INVALID` with every problem and its line.
 */
export async function loadConfig(path: string | undefined): Promise<GatewayConfig> {
  if (path === undefined) return defaultConfig;
  const text = await readText(path, maxConfigBytes).catch((cause: unknown) => {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError("CONFIG_INVALID", `the configuration ${path} cannot be read`, { cause });
  });
  // Parser and schema library cost more to load than the rest of the start, and most starts have no configuration.
  const { describeProblems, readConfig } = await import("./config-read.js");
  const reading = readConfig(text);
  if (reading.ok) {
    const { plugins, ...rest } = reading.value;
    return plugins === undefined ? rest : { ...rest, plugins: placePlugins(plugins, dirname(resolve(path))) };
  }
  const { message, lines } = describeProblems("the configuration", path, reading.problems);
  throw new GatewayError("CONFIG_INVALID", message, { lines });
}

/** Paths are relative to the file that names them: the client decides where a gateway is started. */
function placePlugins({ file, cwd, index, wheels, ...rest }: GivenPluginSettings, folder: string): PluginSettings {
  const path = resolve(folder, file);
  const from =
    wheels !== undefined
      ? { from: "wheels" as const, folders: wheels.map((one) => resolve(folder, one)) }
      : index === undefined
        ? { from: "default" as const }
        : { from: "index" as const, url: index };
  return { ...rest, file: path, cwd: cwd === undefined ? dirname(path) : resolve(folder, cwd), index: from };
}
