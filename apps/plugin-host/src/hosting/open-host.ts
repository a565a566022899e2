import { resolve } from "node:path";
import { openSessionLog, type SessionEntry, type SessionLog } from "@berth/audit-chain";
import { type Closers, createClosers, type Logger } from "@berth/command-line";
import { confine } from "@berth/process-confinement/launcher";
import type { PluginLogLine } from "@berth/process-plugins";
import { type EnvironmentStore, isolatedVenv, pluginEnvironments } from "@berth/venv-host";
import { createPluginHost, type PluginHost, type PluginsConfig } from "@berth/venv-host/executor";
import { decisionEntry, environmentEntry, processEntry } from "../audit/audit-entries.js";
import { type HostFlags, readStoreFlags } from "../options.js";
import { loadPlugins } from "../plugins-file.js";
import { checkPlaces } from "../process/check-places.js";
import { openProcesses, type Processes, withTheirHooks } from "../process/open-processes.js";
import { openStateFolder, type StateFolder } from "../state-folder.js";
import { version } from "../version.js";
import { ofExecutor } from "./executor-fault.js";
import { openStore } from "./open-store.js";
import { tellingOutput } from "./telling-output.js";

/** Plugins with everything that they stand on. */
export interface OpenedHost {
  readonly host: PluginHost;
  readonly audit: SessionLog;
  readonly processes: Processes;
  /** In reverse order: plugins, store, log. Gives the names of what was not closed in time. */
  close(reason: string): Promise<readonly string[]>;
}

export interface OpenHostOptions {
  readonly logger: Logger;
  /** Which command, for the log. */
  readonly command: string;
  readonly onProgress: (plugin: string, step: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** How long plugins, store and log may take to end. */
const closeMs = 40_000;

/** @throws {AppError} for the configuration, the flags and the state folder, before anything is started. */
export async function openHost(flags: HostFlags, options: OpenHostOptions): Promise<OpenedHost> {
  const { logger } = options;
  const terms = readStoreFlags(flags);
  const config = await loadPlugins(flags.config);
  for (const warning of config.warnings) logger.warn(`${flags.config}: ${warning}`);
  await checkPlaces({ config, file: flags.config, data: resolve(flags.state, "plugins") }, flags.state);
  const state = await openStateFolder(flags.state);
  const closers = createClosers((name, fault) => logger.error({ err: fault }, `${name} could not be closed`));
  const reason = { text: "failed" };
  try {
    const audit = await openLog(state, options, flags);
    closers.add("audit log", () => audit.close(reason.text));
    const store = await openStore(state.venvs, terms);
    closers.add("store of environments", () => store.close());
    const processes = openProcesses({
      config,
      file: flags.config,
      data: state.plugins,
      record: async (event) => void (await audit.append(processEntry(event))),
      onLog: (plugin, line) => logProcess(logger, plugin, line),
      logger,
      forClients: options.command === "serve",
    });
    closers.add("process plugins", () => processes.supervisor.close());
    for (const plugin of processes.unconfined)
      logger.warn({ plugin }, "allow_unconfined: it runs without a sandbox, with all rights of this user");
    const hooked = await withTheirHooks(config, processes, options);
    const host = openPlugins({ flags, config: hooked, store, audit, processes, options });
    closers.add("plugins", () => host.close());
    return { host, audit, processes, close: (why) => closeAll(closers, reason, why) };
  } catch (error) {
    await closeAll(closers, reason, "failed");
    throw error;
  }
}

function closeAll(closers: Closers, reason: { text: string }, why: string): Promise<readonly string[]> {
  reason.text = why;
  return closers.close(closeMs);
}

function openLog({ audit }: StateFolder, { command, logger }: OpenHostOptions, flags: HostFlags): Promise<SessionLog> {
  return openSessionLog({
    folder: audit,
    opening: { program: `berth-plugin-host ${version}`, command, config: resolve(flags.config) },
    now: Date.now,
    onTurn: (refusal) => {
      if (refusal === undefined) logger.info("the audit log takes entries again");
      else logger.error({ err: refusal }, "the audit log takes no entries: hooks are refused");
    },
  });
}

/** What plugins print is for who looks for it; what they tell is told with their own level. */
function logProcess(logger: Logger, plugin: string, { from, level, text }: PluginLogLine): void {
  if (from === "stderr") logger.debug({ plugin }, text);
  else logger[level]({ plugin }, text);
}

interface PluginsParts {
  readonly flags: HostFlags;
  readonly config: PluginsConfig;
  readonly store: EnvironmentStore;
  readonly audit: SessionLog;
  readonly processes: Processes;
  readonly options: OpenHostOptions;
}

function openPlugins({ flags, config, store, audit, processes, options }: PluginsParts): PluginHost {
  const record = async (entry: SessionEntry): Promise<void> => void (await audit.append(entry));
  const acquire = pluginEnvironments({ store, onGot: (got) => record(environmentEntry(got)) });
  try {
    return createPluginHost({
      config,
      kinds: [tellingOutput(isolatedVenv({ acquire, cwd: resolve(flags.cwd ?? "."), confine })), processes.kind],
      record: (decision) => record(decisionEntry(decision)),
      onProgress: options.onProgress,
      onLog: (plugin, line) => options.logger.debug({ plugin }, line),
    });
  } catch (error) {
    return ofExecutor(error);
  }
}
