import type { GatewayConfig } from "../config.js";
import type { ReadPlugins } from "./read-plugins.js";

/**
 * Reads the plugins of a configuration that names some, before anything is started. Without them none of their code is loaded: a
 * gateway without plugins is to cost nothing for them.
 * @throws {GatewayError} `CONFIG_INVALID` with every fault and its line.
 */
export async function preparePlugins({ plugins }: GatewayConfig): Promise<ReadPlugins | undefined> {
  if (plugins === undefined) return undefined;
  const { readPlugins } = await import("./read-plugins.js");
  return readPlugins(plugins);
}
