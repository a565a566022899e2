import { createClosers, type Logger } from "@berth/command-line";
import type { Interceptor } from "@berth/mcp-relay";
import { confine } from "@berth/process-confinement/launcher";
import {
  type EnvironmentStore,
  environmentFacts,
  isolatedVenv,
  openEnvironmentStore,
  pluginEnvironments,
} from "@berth/venv-host";
import { createPluginHost, isPluginHostError, type PluginHost, type PluginsConfig } from "@berth/venv-host/executor";
import { GatewayError } from "../errors.js";
import { hookEntry } from "../log-entries.js";
import type { SessionLog } from "../session-log.js";
import { createCallHooks } from "./call-hooks.js";
import type { PluginSettings } from "./plugin-settings.js";
import { findUnasked } from "./unasked.js";

/** What plugins stand on. */
export interface PluginSurroundings {
  /** The store of environments. */
  readonly venvs: string;
  readonly log: Pick<SessionLog, "append">;
  readonly logger: Logger;
  /** Gives up what is not ready yet. */
  readonly signal: AbortSignal;
  /** A plugin is ready only when its class can be imported. Default: a client that starts the gateway does not wait for that. */
  readonly importsFirst?: boolean | undefined;
}

/** Plugins that are ready, as far as they can be. */
export interface OpenedPlugins {
  readonly interceptor: Interceptor;
  readonly readiness: readonly PluginReadiness[];
  /** The longest that a request or result may be looked into, in milliseconds. */
  readonly interceptMs: number;
  /** Ends plugins and lets their environments go. */
  close(): Promise<void>;
}

/** A plugin after its start. */
export interface PluginReadiness {
  readonly plugin: string;
  readonly ready: boolean;
  /** Why it is not, or how it does. */
  readonly message: string;
}

/** How long plugins and their store may take to end. */
const closeMs = 40_000;
const minute = 60_000;
const day = 86_400_000;

/**
 * Makes all plugins ready. One that cannot be made so is told, and its `on_error` decides about the calls that it would be asked about.
 * @throws {GatewayError} `PLUGINS_FAILED` with `fail_on_plugin_error`, or when the store cannot be used.
 */
export async function openPlugins(
  settings: PluginSettings,
  config: PluginsConfig,
  surroundings: PluginSurroundings,
): Promise<OpenedPlugins> {
  const { logger } = surroundings;
  for (const warning of config.warnings) logger.warn(`${settings.file}: ${warning}`);
  for (const { plugin, message } of findUnasked(config)) logger.warn({ plugin }, message);
  const closers = createClosers((name, fault) => logger.error({ err: fault }, `${name} could not be closed`));
  const close = async (): Promise<void> => {
    const left = await closers.close(closeMs);
    if (left.length > 0) logger.error({ left }, "plugins did not end in time");
  };
  try {
    const store = await openStore(settings, surroundings.venvs);
    closers.add("the store of environments", () => store.close());
    const host = hostOf(settings, config, store, surroundings);
    closers.add("plugins", () => host.close());
    await host.start({ signal: surroundings.signal });
    const readiness = await tellHealth(host, surroundings);
    return { interceptor: createCallHooks({ host, logger }), readiness, interceptMs: patience(config), close };
  } catch (error) {
    await close();
    surroundings.signal.throwIfAborted();
    throw isPluginHostError(error) || isCoded(error) ? failed(error) : error;
  }
}

/** The store of a state folder. */
export function openStore(
  { installer, index, requireHashes, onlyWheels, confineInstalls }: PluginSettings,
  path: string,
): Promise<EnvironmentStore> {
  const held = (confineInstalls ?? index.from === "wheels") ? confine : undefined;
  const ifNotConfined = confineInstalls === true ? "refuse" : "warn";
  return openEnvironmentStore({ path, installer, index, requireHashes, onlyWheels, confine: held, ifNotConfined });
}

function hostOf(
  { cwd }: PluginSettings,
  config: PluginsConfig,
  store: EnvironmentStore,
  { log, logger, importsFirst }: PluginSurroundings,
): PluginHost {
  const acquire = pluginEnvironments({
    store,
    onGot: async (got) => {
      const facts = environmentFacts(got);
      const { plugin, origin, environmentKey, path } = facts;
      logger.info({ plugin, origin, environmentKey, path }, "has its environment");
      await log.append({ ...facts, type: "plugin.environment" });
    },
  });
  return createPluginHost({
    config,
    kinds: [isolatedVenv({ acquire, cwd, confine, importsFirst })],
    record: async (decision) => void (await log.append(hookEntry(decision))),
    onProgress: (plugin, step) => logger.info({ plugin }, step),
    onLog: (plugin, line) => logger.debug({ plugin, stderr: line }),
  });
}

async function tellHealth(
  host: PluginHost,
  { log, logger, signal }: PluginSurroundings,
): Promise<readonly PluginReadiness[]> {
  const readiness: PluginReadiness[] = [];
  for (const { plugin, state, message } of await host.health({ signal })) {
    readiness.push({ plugin, ready: state !== "failed", message });
    if (state !== "failed") logger.info({ plugin }, "ready");
    else {
      logger.error({ plugin }, `not ready: ${message}. Its on_error decides about each call; see berth-gateway doctor`);
      await log.append({ type: "plugin.failed", plugin });
    }
  }
  return readiness;
}

/** Each plugin's own time, one after another, and what it takes to write that down. */
function patience({ plugins, settings }: PluginsConfig): number {
  const all = plugins.length * settings.pluginTimeoutMs + minute;
  return Math.min(day, Math.max(5 * minute, all));
}

function isCoded(error: unknown): error is Error {
  return error instanceof Error && error.name === "VenvHostError";
}

function failed(error: Error): GatewayError {
  const details = "details" in error ? error.details : undefined;
  const cure = typeof details === "object" && details !== null && "cure" in details ? details.cure : undefined;
  const lines = typeof cure === "string" ? [cure] : [];
  return new GatewayError("PLUGINS_FAILED", `the plugins are not ready: ${error.message}`, { cause: error, lines });
}
