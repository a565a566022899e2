import { dirname, resolve } from "node:path";
import {
  createPluginSupervisor,
  createProcessKind,
  type PluginEvent,
  type PluginLogLine,
  type PluginSupervisor,
  readProcessEntry,
  type SupervisedPlugin,
} from "@berth/process-plugins";
import {
  type PluginEntry,
  type PluginKind,
  type PluginsConfig,
  readPluginReply,
  writePluginCall,
} from "@berth/venv-host/executor";
import { AppError } from "../errors.js";
import { version } from "../version.js";

/** The process plugins of a configuration. */
export interface Processes {
  readonly supervisor: PluginSupervisor;
  readonly kind: PluginKind;
  /** Names of those that are not disabled, in the order of the file. */
  readonly names: readonly string[];
}

export interface OpenProcessesOptions {
  readonly config: PluginsConfig;
  /** The path of the configuration: paths in it are relative to its folder. */
  readonly file: string;
  /** Holds the plugins' data folders. */
  readonly data: string;
  readonly record: (event: PluginEvent) => Promise<void>;
  readonly onLog: (plugin: string, line: PluginLogLine) => void;
}

export function isProcess({ kind, mode }: Pick<PluginEntry, "kind" | "mode">): boolean {
  return kind === "process" && mode !== "disabled";
}

/**
 * Holds them; none is started yet.
 * @throws {AppError} `CONFIG_INVALID` with every fault of every entry.
 */
export function openProcesses({ config, file, data, record, onLog }: OpenProcessesOptions): Processes {
  const entries = config.plugins.filter(isProcess);
  const supervisor = createPluginSupervisor({
    plugins: readEntries(entries, dirname(resolve(file)), data),
    host: { name: "berth-plugin-host", version },
    record,
    onLog,
  });
  const kind = createProcessKind({ supervisor, writeCall: writePluginCall, readReply: readPluginReply });
  return { supervisor, kind, names: entries.map(({ name }) => name) };
}

function readEntries(entries: readonly PluginEntry[], base: string, data: string): readonly SupervisedPlugin[] {
  const faults: string[] = [];
  const plugins = entries.flatMap((entry) => {
    const reading = readProcessEntry(entry, { base, data });
    if (reading.ok) return [reading.plugin];
    const line = entry.line === undefined ? "" : `line ${entry.line}: `;
    faults.push(...reading.problems.map((problem) => `${line}plugin ${entry.name}: ${problem}`));
    return [];
  });
  if (faults.length === 0) return plugins;
  throw new AppError("CONFIG_INVALID", "the plugins cannot be run as they are configured", { lines: faults });
}

/**
 * An entry that names no hooks has those that its plugin says it takes, which only the running plugin can say.
 * @throws {AppError} `PLUGIN_UNAVAILABLE` when it cannot be started: a host without it would allow what it might deny.
 */
export async function withTheirHooks(
  config: PluginsConfig,
  { supervisor }: Pick<Processes, "supervisor">,
  signal?: AbortSignal,
): Promise<PluginsConfig> {
  const plugins = config.plugins.map(async (entry) => {
    if (!isProcess(entry) || entry.hooks.length > 0) return entry;
    return { ...entry, hooks: await hooksOf(entry, supervisor, signal) };
  });
  return { ...config, plugins: await Promise.all(plugins) };
}

async function hooksOf(
  { name, onError }: PluginEntry,
  supervisor: PluginSupervisor,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  try {
    return (await supervisor.instance(name, { signal })).capabilities.hooks;
  } catch (error) {
    signal?.throwIfAborted();
    if (onError === "ignore") return [];
    const reason = error instanceof Error ? error.message : String(error);
    const problems =
      error instanceof Error && "problems" in error && Array.isArray(error.problems) ? error.problems : [];
    throw new AppError("PLUGIN_UNAVAILABLE", `plugin ${name} names no hooks, and cannot be asked for them: ${reason}`, {
      lines: [
        ...problems.map(String),
        "correct the plugin, name its hooks in plugins.yaml, or give it on_error: ignore",
      ],
    });
  }
}
