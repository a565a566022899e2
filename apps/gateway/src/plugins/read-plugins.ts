import { hash } from "node:crypto";
import { confine } from "@berth/process-confinement/launcher";
import { isolatedVenv } from "@berth/venv-host";
import { createPluginHost, isPluginHostError, type PluginsConfig, readPluginsConfig } from "@berth/venv-host/executor";
import { GatewayError } from "../errors.js";
import { maxConfigBytes, readText } from "../read-text.js";
import { type OpenedPlugins, openPlugins, type PluginSurroundings } from "./open-plugins.js";
import type { PluginSettings } from "./plugin-settings.js";

/** A plugins.yaml, read and checked. */
export interface ReadPlugins {
  readonly file: string;
  /** `sha256:HEX` of the file. */
  readonly digest: string;
  readonly config: PluginsConfig;
  /** Makes the plugins ready. */
  open(surroundings: PluginSurroundings): Promise<OpenedPlugins>;
}

/**
 * Reads a plugins.yaml and checks it as its host will.
 * @throws {GatewayError} `CONFIG_INVALID` with every fault and its line.
 */
export async function readPlugins(settings: PluginSettings): Promise<ReadPlugins> {
  const { file, cwd } = settings;
  const text = await readText(file, maxConfigBytes).catch((cause: unknown) => {
    if (cause instanceof GatewayError) throw cause;
    const lines = ["plugins in gateway.yaml names it; a relative path is relative to that file"];
    throw new GatewayError("CONFIG_INVALID", `the plugins ${file} cannot be read`, { cause, lines });
  });
  const config = await readPluginsConfig(text, { file }).catch(ofExecutor);
  try {
    createPluginHost({ config, kinds: [isolatedVenv({ acquire: refuse, cwd, confine })] });
  } catch (error) {
    ofExecutor(error);
  }
  const digest = `sha256:${hash("sha256", text, "hex")}`;
  return { file, digest, config, open: (surroundings) => openPlugins(settings, config, surroundings) };
}

function refuse(): Promise<never> {
  return Promise.reject(new Error("nothing is started here"));
}

function ofExecutor(error: unknown): never {
  if (!isPluginHostError(error)) throw error;
  throw new GatewayError("CONFIG_INVALID", "the plugins cannot be run as they are configured", { lines: error.faults });
}
