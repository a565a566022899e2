import {
  type InstanceEnd,
  isProcessPluginError,
  type PluginInstance,
  type PluginStanding,
  type PluginSupervisor,
  type SupervisedPlugin,
} from "@berth/process-plugins";
import { nextStep, reasonOf } from "./plugin-words.js";

/** Ends of a plugin's own that are one too many, and the time in which they count. */
export const crashTerms = { maxCrashes: 3, crashWindowMs: 60_000 } as const;

/** Calls in a row without an answer in time that are one too many: the instance is ended. */
const maxSilences = 3;

/** Tells the operator, in one line each, what becomes of plugins. */
export interface PluginWatch {
  /** The same one; what is started through it is watched. */
  readonly supervisor: PluginSupervisor;
  /** Why a plugin does not start, unless it was told before. */
  tellStart(plugin: string, error: unknown): void;
  wasTold(error: unknown): boolean;
  /** Whether it was told why this one does not run. */
  hasTold(plugin: string): boolean;
  /** What came of one call: an instance that is silent too often in a row is ended, and the next call starts a new one. */
  called(instance: string, came: "answered" | "silent"): void;
}

/** Takes lines for the operator. */
export interface OperatorLog {
  warn(about: { readonly plugin: string }, text: string): void;
  error(about: { readonly plugin: string }, text: string): void;
}

export interface WatchOptions {
  readonly supervisor: PluginSupervisor;
  readonly plugins: readonly SupervisedPlugin[];
  readonly logger: OperatorLog;
}

interface Watched {
  readonly plugin: string;
  readonly instance: PluginInstance;
  silences: number;
}

const withinWindow = `within ${crashTerms.crashWindowMs / 1_000} s`;

/** One state machine over starts, calls and ends, hence its length. */
export function watchPlugins({ supervisor, plugins, logger }: WatchOptions): PluginWatch {
  const seen = new Map<string, Watched>();
  const told = new WeakSet<object>();
  const lastTold = new Map<string, string>();
  /** Those that were asked to end. */
  const ending = new Set<string>();
  let isClosing = false;
  const standingOf = (plugin: string): PluginStanding | undefined =>
    supervisor.list().find(({ name }) => name === plugin);
  const isPinned = (plugin: string): boolean =>
    plugins.some(({ name, digest }) => name === plugin && digest !== undefined);

  /** It stays so until somebody does something. */
  const isRepeated = (plugin: string, what: string): boolean => {
    if (lastTold.get(plugin) === what) return true;
    lastTold.set(plugin, what);
    return false;
  };
  /** An end of its own: how many there were, and what happens now. */
  const tellOwnEnd = (plugin: string, what: string, advice?: string): void => {
    const { state, crashes = 0 } = standingOf(plugin) ?? {};
    if (state !== "quarantined") {
      if (advice !== undefined && isRepeated(plugin, what)) return;
      const count = `${crashes} of ${crashTerms.maxCrashes} ${withinWindow}`;
      logger.warn({ plugin }, `${what}; ${advice ?? "the next call starts it again"}, ${count}`);
      return;
    }
    const next = `${advice ?? "find out why (--log debug shows what it prints)"}, then start this program again`;
    logger.error({ plugin }, `${what}; it is held back after ${crashTerms.maxCrashes} ends ${withinWindow}: ${next}`);
  };
  const tellEnd = ({ plugin, instance, silences }: Watched, end: InstanceEnd, cause: unknown): void => {
    const excerpt = isProcessPluginError(cause) ? cause.excerpt : undefined;
    const what = `plugin ${plugin} ended: ${reasonOf(end.message, instance.name, excerpt)}`;
    if (!end.confirmed) logger.error({ plugin }, `plugin ${plugin} ended, and processes of it may be left`);
    if (end.reason === "changed") logger.error({ plugin }, `${what}; ${nextStep(cause, isPinned(plugin))}`);
    else if (end.reason === "destroyed" || end.reason === "killed") {
      if (silences >= maxSilences) logger.warn({ plugin }, `plugin ${plugin} was ended; the next call starts it again`);
    } else if (isClosing || ending.has(plugin)) logger.warn({ plugin }, what);
    else tellOwnEnd(plugin, what);
  };
  const watch = (plugin: string, instance: PluginInstance): PluginInstance => {
    if (seen.has(instance.id)) return instance;
    const watched = { plugin, instance, silences: 0 };
    seen.set(instance.id, watched);
    let cause: unknown;
    // What ended it, with the excerpt, is told to the clients of its MCP half.
    instance.openMcp().start({
      onFrame: () => {},
      onFault: () => {},
      onClose: (why) => {
        cause = why;
      },
    });
    lastTold.delete(plugin);
    void instance.ended.then((end) => {
      seen.delete(instance.id);
      tellEnd(watched, end, cause);
    });
    return instance;
  };

  const tellStart = (plugin: string, error: unknown): void => {
    if (!(error instanceof Error) || told.has(error)) return;
    told.add(error);
    const code = isProcessPluginError(error) ? error.code : "";
    if (noFaults.has(code)) return;
    const what = `plugin ${plugin} does not start: ${startReason(error)}`;
    if (ownEnds.has(code)) {
      tellOwnEnd(plugin, what, isProcessPluginError(error) ? error.advice : undefined);
      return;
    }
    if (isRepeated(plugin, what)) return;
    logger.error({ plugin }, `${what}; ${nextStep(error, isPinned(plugin))}`);
  };
  const silent = (watched: Watched): void => {
    watched.silences += 1;
    if (watched.silences !== maxSilences) return;
    const { plugin, instance } = watched;
    logger.warn({ plugin }, `plugin ${plugin} gave no answer in time to ${maxSilences} calls in a row: it is ended`);
    instance.close().catch(() => {}); // its end is told above
  };
  const endedBy = async (plugin: string): Promise<void> => {
    ending.add(plugin);
    try {
      await supervisor.stop(plugin);
    } finally {
      ending.delete(plugin);
    }
  };
  const close = (): Promise<void> => {
    isClosing = true;
    return supervisor.close();
  };
  return {
    tellStart,
    wasTold: (error) => typeof error === "object" && error !== null && told.has(error),
    hasTold: (plugin) => lastTold.has(plugin) || standingOf(plugin)?.message !== undefined,
    called: (instance, came) => {
      const watched = seen.get(instance);
      if (watched === undefined) return;
      if (came === "silent") silent(watched);
      else if (watched.silences < maxSilences) watched.silences = 0;
    },
    supervisor: {
      list: () => supervisor.list(),
      instance: async (plugin, wait) => {
        try {
          return watch(plugin, await supervisor.instance(plugin, wait));
        } catch (error) {
          if (wait?.signal?.aborted !== true) tellStart(plugin, error);
          throw error;
        }
      },
      release: (plugin) => supervisor.release(plugin),
      stop: endedBy,
      close,
      [Symbol.asyncDispose]: close,
    },
  };
}

function startReason(error: Error): string {
  if (!isProcessPluginError(error)) return error.message;
  const { problems, message, plugin, excerpt } = error;
  return problems.length > 0 ? problems.join("; ") : reasonOf(message, plugin, excerpt);
}

/** Told where they come from, or no fault of a plugin. */
const noFaults: ReadonlySet<string> = new Set([
  "PLUGIN_QUARANTINED",
  "PLUGIN_UNKNOWN",
  "PLUGIN_NOT_RUNNING",
  "PLUGINS_CLOSED",
]);

/** Starts that fail so are counted as ends of the plugin's own. */
const ownEnds: ReadonlySet<string> = new Set([
  "PLUGIN_NOT_STARTED",
  "PLUGIN_TIMEOUT",
  "PLUGIN_PROTOCOL",
  "PLUGIN_EXITED",
  "PLUGIN_NOT_ENDED",
]);
