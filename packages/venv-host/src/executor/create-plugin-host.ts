import { systemScheduler } from "@berth/jsonrpc-framing";
import { placeEntries } from "./config/registered-kinds.js";
import { PluginHostError } from "./errors.js";
import { createWriteAuthorities, type WriteAuthorities } from "./extensions/write-authority.js";
import { readCount, readExecutorLimits } from "./limits.js";
import type { PluginEntry } from "./plugin-config.js";
import type { HookRequest, PluginHost, PluginHostOptions, PluginStatus } from "./plugin-host.js";
import type { WaitOptions } from "./plugin-kind.js";
import { createBackgroundCalls } from "./run/background-calls.js";
import { createCarriedStates } from "./run/carried-state.js";
import { PHASES } from "./run/phases.js";
import { createPluginSlot, type PluginSlot } from "./run/plugin-slot.js";
import { type HookRunner, runHook } from "./run/run-hook.js";
import { linkAbort } from "./until-aborted.js";

/** Plugins that `start` makes ready at the same time. */
const MAX_OPENING = 4;

/**
 * A host of the plugins of a configuration. Nothing is started yet: a plugin is made ready by `start` or by its first call.
 * @throws {PluginHostError} `KIND_UNKNOWN`, `CONFIG_INVALID`, `OPTION_INVALID`
 */
export function createPluginHost(options: PluginHostOptions): PluginHost {
  const { config, scheduler = systemScheduler } = options;
  const terms = readExecutorLimits(options.limits);
  readCount("pluginTimeoutMs", config.settings.pluginTimeoutMs, 30_000, 1, 600_000);
  const authorities = createWriteAuthorities();
  const slots = createSlots(options, authorities);
  const ending = new AbortController();
  const background = createBackgroundCalls(scheduler, terms.maxBackgroundCalls);
  const runner: HookRunner = {
    slots,
    settings: config.settings,
    terms,
    scheduler,
    authorities,
    carried: createCarriedStates(),
    background,
    record: options.record,
    ending: ending.signal,
  };
  const closeAll = async (): Promise<void> => {
    ending.abort(new PluginHostError("HOST_CLOSED", "the host of plugins is closed"));
    await background.close(terms.backgroundGraceMs);
    const ends = await Promise.allSettled(slots.map((slot) => slot.close()));
    const failed = ends.find((end) => end.status === "rejected");
    if (failed !== undefined)
      throw new PluginHostError("PLUGIN_FAILED", "a plugin did not end", { cause: failed.reason });
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= closeAll();
    return closing;
  };
  return {
    list: () => [
      ...slots.map(statusOf),
      ...config.plugins.filter(({ mode }) => mode === "disabled").map(statusOfDisabled),
    ],
    hasHook: (hook) => slots.some(({ entry, isDisabled }) => !isDisabled && entry.hooks.includes(hook)),
    start: (wait) => openAll(runner, wait),
    run: (request: HookRequest) => runHook(runner, request),
    health: async (wait = {}) => {
      ending.signal.throwIfAborted();
      return Promise.all(slots.map(async (slot) => ({ plugin: slot.entry.name, ...(await slot.health(wait)) })));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function createSlots(options: PluginHostOptions, authorities: WriteAuthorities): readonly PluginSlot[] {
  const { config, kinds, scheduler = systemScheduler, onProgress, onLog } = options;
  const terms = readExecutorLimits(options.limits);
  const placed = [...placeEntries(config, kinds)].sort((one, other) => compareEntries(one.entry, other.entry));
  return placed.map(({ entry, kind }) => {
    // Copied: the caller's list may change later, a plugin's authority may not.
    const capabilities: ReadonlySet<string> = new Set(entry.capabilities);
    return createPluginSlot({
      entry,
      kind,
      capabilities,
      authority: authorities.mint(capabilities),
      terms,
      scheduler,
      onProgress: (step) => quietly(() => onProgress?.(entry.name, step)),
      onLog: (line) => quietly(() => onLog?.(entry.name, line)),
    });
  });
}

/** By phase, then priority; `sort` keeps the order of the file for the rest. */
function compareEntries(one: PluginEntry, other: PluginEntry): number {
  return PHASES.indexOf(one.mode) - PHASES.indexOf(other.mode) || one.priority - other.priority;
}

/** A listener that throws is not the plugin's fault. */
function quietly(tell: () => void): void {
  try {
    tell();
  } catch {
    // It must not throw; whoever gave it has no other place where to hear of it.
  }
}

async function openAll({ slots, settings, ending }: HookRunner, wait: WaitOptions | undefined): Promise<void> {
  const linked = linkAbort([wait?.signal, ending]);
  const waiting = [...slots];
  const openNext = async (): Promise<void> => {
    for (let slot = waiting.shift(); slot !== undefined; slot = waiting.shift()) {
      try {
        await slot.open(linked.signal);
      } catch (error) {
        linked.signal.throwIfAborted();
        if (settings.failOnPluginError) throw error; // else the first call says it, by the plugin's `on_error`
      }
    }
  };
  try {
    linked.signal.throwIfAborted();
    await Promise.all(Array.from({ length: MAX_OPENING }, openNext));
  } finally {
    linked.release();
  }
}

function statusOf({ entry, isDisabled, evidence }: PluginSlot): PluginStatus {
  const { name, kind, hooks, mode, priority } = entry;
  return Object.freeze({ name, kind, hooks, mode, priority, isDisabled, evidence });
}

function statusOfDisabled({ name, kind, hooks, mode, priority }: PluginEntry): PluginStatus {
  return Object.freeze({ name, kind, hooks, mode, priority, isDisabled: false, evidence: undefined });
}
