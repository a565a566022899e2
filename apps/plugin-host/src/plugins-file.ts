import { isStateError, readText } from "@berth/state-folder";
import { type PluginEntry, type PluginsConfig, readPluginsConfig } from "@berth/venv-host/executor";
import { AppError } from "./errors.js";
import { ofExecutor } from "./hosting/executor-fault.js";

/** Largest `plugins.yaml`, in bytes; the reader bounds its characters too. */
const maxConfigBytes = 1024 * 1024;

/** Keys of an entry of the kind `process` alone. */
const processKeys = ["digest", "interpreters", "read_only", "allow_unconfined", "limits", "timeouts"] as const;

/**
 * Reads a `plugins.yaml`.
 * @throws {AppError} `CONFIG_INVALID` with every fault and its line.
 */
export async function loadPlugins(path: string): Promise<PluginsConfig> {
  const text = await readText(path, maxConfigBytes).catch((error: unknown) => {
    if (isStateError(error)) throw new AppError("CONFIG_INVALID", error.message, { cause: error.cause });
    throw new AppError("CONFIG_INVALID", `the configuration ${path} cannot be read`, { cause: error });
  });
  const config = await readPluginsConfig(text, { file: path, entryKeys: ["dir", ...processKeys] }).catch(ofExecutor);
  return { ...config, warnings: warningsOf(config) };
}

/** A plugin of the kind `process` says itself which hooks it takes; a key of this kind does nothing in an entry of another one. */
function warningsOf({ plugins, warnings }: PluginsConfig): readonly string[] {
  const ofProcesses = plugins
    .filter(({ kind }) => kind === "process")
    .map(({ name }) => `plugin ${name} names no hooks:`);
  return [
    ...warnings.filter((warning) => !ofProcesses.some((sentence) => warning.includes(sentence))),
    ...plugins.filter(({ kind }) => kind !== "process").flatMap(strayKeys),
  ];
}

function strayKeys({ name, kind, more, line }: PluginEntry): readonly string[] {
  const place = line === undefined ? "" : `line ${line}: `;
  const stray = processKeys.filter((key) => Object.hasOwn(more, key));
  return stray.map((key) => `${place}plugin ${name}: ${key} is no key of the kind ${kind}, and does nothing`);
}
