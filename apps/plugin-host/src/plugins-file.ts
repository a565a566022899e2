import { isStateError, readText } from "@berth/state-folder";
import { type PluginsConfig, readPluginsConfig } from "@berth/venv-host/executor";
import { AppError } from "./errors.js";
import { ofExecutor } from "./hosting/executor-fault.js";

/** Largest `plugins.yaml`, in bytes; the reader bounds its characters too. */
const maxConfigBytes = 1024 * 1024;

/**
 * Reads a `plugins.yaml`.
 * @throws {AppError} `CONFIG_INVALID` with every fault and its line.
 */
export async function loadPlugins(path: string): Promise<PluginsConfig> {
  const text = await readText(path, maxConfigBytes).catch((error: unknown) => {
    if (isStateError(error)) throw new AppError("CONFIG_INVALID", error.message, { cause: error.cause });
    throw new AppError("CONFIG_INVALID", `the configuration ${path} cannot be read`, { cause: error });
  });
  return readPluginsConfig(text, { file: path }).catch(ofExecutor);
}
