import { dirname, resolve } from "node:path";
import {
  createPluginSupervisor,
  createProcessKind,
  isProcessPluginError,
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
import { noticeSilence } from "./notice-silence.js";
import { nextStep } from "./plugin-words.js";
import { crashTerms, type OperatorLog, type PluginWatch, watchPlugins } from "./watch-plugins.js";

/** The process plugins of a configuration. */
export interface Processes {
  readonly supervisor: PluginSupervisor;
  readonly kind: PluginKind;
  /** Tells the operator what becomes of them. */
  readonly watch: PluginWatch;
  /** The same one: what fails through it is told by who asks. */
  readonly unwatched: Pick<PluginSupervisor, "instance">;
  /** Names of those that are not disabled, in the order of the file. */
  readonly names: readonly string[];
  /** Names of those whose entry allows them to run without a sandbox. */
  readonly unconfined: readonly string[];
}

/** Where the process plugins of a configuration are. */
export interface ProcessesSource {
  readonly config: PluginsConfig;
  /** The path of the configuration: paths in it are relative to its folder. */
  readonly file: string;
  /** Holds the plugins' data folders. */
  readonly data: string;
}

export interface OpenProcessesOptions extends ProcessesSource {
  readonly record: (event: PluginEvent) => Promise<void>;
  readonly onLog: (plugin: string, line: PluginLogLine) => void;
  readonly logger: OperatorLog;
  /** Whether reasons of hooks go to clients, or to the operator. */
  readonly forClients: boolean;
}

export function isProcess({ kind, mode }: Pick<PluginEntry, "kind" | "mode">): boolean {
  return kind === "process" && mode !== "disabled";
}

/**
 * Holds them; none is started yet.
 * @throws {AppError} `CONFIG_INVALID` with every fault of every entry.
 */
export function openProcesses(options: OpenProcessesOptions): Processes {
  const { config, file, data, record, onLog, logger, forClients } = options;
  const plugins = readProcesses({ config, file, data });
  const held = createPluginSupervisor({
    plugins,
    ...crashTerms,
    host: { name: "berth-plugin-host", version },
    record,
    onLog,
  });
  const watch = watchPlugins({ supervisor: held, plugins, logger });
  const { supervisor } = watch;
  const plain = createProcessKind({ supervisor, writeCall: writePluginCall, readReply: readPluginReply });
  const kind = noticeSilence(plain, { watch, forClients });
  const unconfined = plugins.filter(({ allowUnconfined }) => allowUnconfined).map(({ name }) => name);
  return { supervisor, unwatched: held, kind, watch, names: plugins.map(({ name }) => name), unconfined };
}

/**
 * Those that are not disabled, in the order of the file. Nothing of their folders is looked at.
 * @throws {AppError} `CONFIG_INVALID` with every fault of every entry.
 */
export function readProcesses({ config, file, data }: ProcessesSource): readonly SupervisedPlugin[] {
  const faults: string[] = [];
  const plugins = config.plugins.filter(isProcess).flatMap((entry) => {
    const reading = readProcessEntry(entry, { base: dirname(resolve(file)), data });
    if (reading.ok) return [reading.plugin];
    const line = entry.line === undefined ? "" : `line ${entry.line}: `;
    faults.push(...reading.problems.map((problem) => `${line}plugin ${entry.name}: ${problem}`));
    return [];
  });
  if (faults.length === 0) return plugins;
  throw new AppError("CONFIG_INVALID", "the plugins cannot be run as they are configured", { lines: faults });
}

/** What `withTheirHooks` needs beside the configuration. */
export interface HooksOptions {
  readonly onProgress: (plugin: string, step: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * An entry that names no hooks has those that its plugin says it takes, which only the running plugin can say.
 * @throws {AppError} `PLUGIN_UNAVAILABLE` with each that cannot be started: a host without it would allow what it might deny.
 */
export async function withTheirHooks(
  config: PluginsConfig,
  { supervisor, unwatched }: Pick<Processes, "supervisor" | "unwatched">,
  { onProgress, signal }: HooksOptions,
): Promise<PluginsConfig> {
  const faults: string[] = [];
  const plugins = config.plugins.map(async (entry) => {
    if (!isProcess(entry) || entry.hooks.length > 0) return entry;
    onProgress(entry.name, `measuring and starting ${entry.name}, to ask which hooks it takes`);
    const asked = entry.onError === "ignore" ? supervisor : unwatched; // else its fault is told below
    try {
      return { ...entry, hooks: (await asked.instance(entry.name, { signal })).capabilities.hooks };
    } catch (error) {
      signal?.throwIfAborted();
      if (entry.onError !== "ignore") faults.push(...reasonsOf(error).map((why) => `plugin ${entry.name}: ${why}`));
      return entry;
    }
  });
  const hooked = { ...config, plugins: await Promise.all(plugins) };
  if (faults.length === 0) return hooked;
  throw new AppError("PLUGIN_UNAVAILABLE", "plugins that name no hooks cannot be asked for them", {
    lines: [...faults, "correct the plugin, name its hooks in plugins.yaml, or give it on_error: ignore"],
  });
}

/** Each of the faults of a plugin that is rejected, else the one reason; and what to do. */
export function reasonsOf(error: unknown): readonly string[] {
  if (!isProcessPluginError(error)) return [error instanceof Error ? error.message : String(error)];
  const { problems, message, advice, code, excerpt } = error;
  const reason = excerpt === undefined ? message : `${message} (${JSON.stringify(excerpt)})`;
  const cure = code === "PLUGIN_CHANGED" ? nextStep(error, true) : advice;
  return [...(problems.length > 0 ? problems : [reason]), ...(cure === undefined ? [] : [cure])];
}
