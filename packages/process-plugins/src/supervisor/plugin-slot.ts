import type { Measurer } from "@berth/spawn-attestation";
import { createPluginSandboxes, type OneByOne } from "../confine/plugin-sandboxes.js";
import type { OpenSandbox } from "../confine/start-confined.js";
import { isProcessPluginError, ProcessPluginError } from "../errors.js";
import type { InstanceEnd, PluginInstance } from "../instance/instance.js";
import { type LeftOver, openInstanceWith } from "../instance/open-instance.js";
import type { PluginEvent } from "../instance/plugin-event.js";
import { orAborted } from "../instance/waits.js";
import { inspectAgain, inspectPlugin, leadsTo } from "../tree/inspect-plugin.js";
import type { InspectedPlugin } from "../tree/inspected-plugin.js";
import { createCrashBudget } from "./crash-budget.js";
import type { PluginStanding, SupervisedPlugin } from "./supervisor.js";
import type { SupervisorTerms } from "./supervisor-terms.js";
import type { Turnstile } from "./turnstile.js";

/** One plugin of a supervisor: at most one instance at a time, and what is remembered between two. */
export interface PluginSlot {
  readonly name: string;
  standing(): PluginStanding;
  instance(signal: AbortSignal | undefined): Promise<PluginInstance>;
  release(): Promise<void>;
  stop(): Promise<void>;
  /** As `stop`, and for ever. */
  close(): Promise<void>;
}

/** What all slots share. */
export interface SlotMeans {
  readonly terms: SupervisorTerms;
  readonly measurer: Measurer;
  readonly turnstile: Turnstile;
  /** Of sandboxes that nobody prepared. */
  readonly openSandbox: OpenSandbox;
  readonly oneByOne: OneByOne;
}

/** A start under way, and what ends it. */
interface Start {
  readonly opened: Promise<PluginInstance>;
  readonly controller: AbortController;
}

/** One state machine over starts, instances and their ends, hence its length. */
export function createPluginSlot(
  plugin: SupervisedPlugin,
  { terms, measurer, turnstile, openSandbox, oneByOne }: SlotMeans,
): PluginSlot {
  const { name } = plugin;
  const { scheduler } = terms;
  const budget = createCrashBudget(terms.maxCrashes, terms.crashWindowMs);
  const sandboxes = createPluginSandboxes({ openFresh: openSandbox, scheduler, oneByOne });
  let known: InspectedPlugin | undefined;
  let starting: Start | undefined;
  let running: { readonly instance: PluginInstance; readonly over: Promise<void> } | undefined;
  /** Whose end was not confirmed: it is tried again before anything else of this plugin runs. */
  let leftOver: LeftOver | undefined;
  let failure: { readonly state: "failed" | "rejected"; readonly message: string } | undefined;
  let isQuarantined = false;
  let isClosed = false;
  /** Instances that somebody asked to end: what they do then is no crash. */
  const asked = new WeakSet<PluginInstance>();
  const isUp = (instance: PluginInstance): boolean => instance.state === "running" && !asked.has(instance);

  const fault = (
    code: ProcessPluginError["code"],
    words: string,
    options: ErrorOptions & { advice?: string } = {},
  ): ProcessPluginError => new ProcessPluginError(code, `plugin ${name} ${words}`, { plugin: name, ...options });
  const record = async (event: PluginEvent): Promise<void> => {
    try {
      await terms.record(event);
    } catch (cause) {
      throw fault("NOT_RECORDED", `could not be recorded: ${event.type}`, { cause });
    }
  };
  const refuse = (): void => {
    if (isClosed) throw fault("PLUGINS_CLOSED", "does not run any more: its supervisor was closed");
    if (!isQuarantined) return;
    throw fault("PLUGIN_QUARANTINED", `ended by itself too often, last so: ${failure?.message}`, {
      advice: "find out why, then release it",
    });
  };

  /** Takes down an end of the plugin's own. That it cannot be recorded changes nothing: it is not started any more. */
  const crashed = async (message: string): Promise<void> => {
    failure = { state: "failed", message };
    if (!budget.spend(scheduler.now()) || isQuarantined) return;
    isQuarantined = true;
    const { maxCrashes: crashes, crashWindowMs: withinMs } = terms;
    await record({ type: "plugin.quarantined", plugin: name, crashes, withinMs }).catch(() => {});
  };
  const onEnded = async (instance: PluginInstance, end: InstanceEnd): Promise<void> => {
    running = undefined;
    if (!end.confirmed) leftOver = instance;
    if (end.reason === "changed") failure = { state: "rejected", message: end.message };
    else if (end.reason === "destroyed" || end.reason === "killed" || asked.has(instance)) failure = undefined;
    else await crashed(end.message);
    if (end.confirmed && end.reason !== "changed" && !isQuarantined && !isClosed) sandboxes.keepOne();
  };
  const adopt = (instance: PluginInstance): PluginInstance => {
    failure = undefined;
    running = { instance, over: instance.ended.then((end) => onEnded(instance, end)) };
    return instance;
  };

  const recorded = async <T>(inspection: Promise<T>): Promise<T> => {
    try {
      return await inspection;
    } catch (error) {
      if (isProcessPluginError(error)) await record(rejectionEvent(error, name, known?.digest ?? plugin.digest));
      throw error;
    }
  };
  /** What is to be started, and what is still to be seen of it while its sandbox comes up. */
  const inspect = async (
    signal: AbortSignal,
  ): Promise<{ readonly inspected: InspectedPlugin; readonly look?: () => Promise<void> }> => {
    const before = known;
    if (before !== undefined && (await leadsTo(plugin.folder, before)))
      return { inspected: before, look: () => recorded(inspectAgain(before, { signal })) };
    const digest = before?.digest ?? plugin.digest;
    known = await recorded(inspectPlugin(plugin.folder, { digest, measurer, signal }));
    return { inspected: known };
  };
  const open = async (signal: AbortSignal): Promise<PluginInstance> => {
    const leave = await turnstile.enter(signal);
    try {
      await endLeftOver();
      const { inspected, look } = await inspect(signal);
      const { dataFolder, interpreters, readOnly, allowUnconfined, timeouts, limits } = plugin;
      const { host, onLog } = terms;
      return await openInstanceWith(
        {
          ...{ openSandbox: sandboxes.open, look },
          onLeftOver: (left) => {
            leftOver = left;
          },
        },
        {
          name, // two of them may be one plugin with one manifest: log and messages have the host's names
          ...{ plugin: inspected, dataFolder, interpreters, readOnly, allowUnconfined, timeouts, limits },
          ...{ host, measurer, signal, scheduler, record: terms.record, onLog: (line) => onLog(name, line) },
        },
      );
    } finally {
      leave();
    }
  };
  const begin = (): Start => {
    const controller = new AbortController();
    const { signal } = controller;
    const run = async (): Promise<PluginInstance> => {
      try {
        const instance = adopt(await open(signal));
        if (!signal.aborted) return instance;
        await end(instance); // it was up before it could be told
        throw signal.reason;
      } catch (error) {
        if (!signal.aborted) await notStarted(error);
        throw error;
      } finally {
        starting = undefined;
      }
    };
    const opened = run();
    opened.catch(() => {}); // told to those who wait, of whom there may be none any more
    return { opened, controller };
  };
  const notStarted = async (error: unknown): Promise<void> => {
    const message = error instanceof Error ? error.message : String(error);
    const code = isProcessPluginError(error) ? error.code : undefined;
    if (code !== undefined && ownEnds.has(code)) return crashed(message);
    const isRejected = code === "PLUGIN_REJECTED" || code === "PLUGIN_CHANGED";
    if (isRejected) sandboxes.keepNone();
    failure = { state: isRejected ? "rejected" : "failed", message };
  };

  const end = async (instance: PluginInstance): Promise<void> => {
    asked.add(instance);
    await instance.close();
    await instance.ended;
  };
  const endLeftOver = async (): Promise<void> => {
    if (leftOver === undefined) return;
    await leftOver.kill();
    leftOver = undefined;
  };
  const stopFor = async (reason: ProcessPluginError): Promise<void> => {
    const start = starting;
    if (running !== undefined) asked.add(running.instance);
    start?.controller.abort(reason);
    await start?.opened.catch(() => {});
    if (running !== undefined) await Promise.all([end(running.instance), running.over]);
    await endLeftOver();
  };

  return {
    name,
    instance: async (signal) => {
      for (;;) {
        signal?.throwIfAborted();
        refuse();
        if (running !== undefined && isUp(running.instance)) return running.instance;
        if (running !== undefined) await orAborted(running.over, signal);
        else {
          starting ??= begin();
          return await orAborted(starting.opened, signal);
        }
      }
    },
    release: async () => {
      if (isQuarantined) await record({ type: "plugin.released", plugin: name });
      isQuarantined = false;
      failure = undefined;
      budget.forget();
    },
    stop: () => stopFor(fault("PLUGIN_NOT_RUNNING", "was stopped while it started")),
    close: async () => {
      isClosed = true;
      try {
        await stopFor(fault("PLUGINS_CLOSED", "was not started: its supervisor was closed"));
      } finally {
        await sandboxes.close();
      }
    },
    standing: () => ({
      name,
      state: stateOf(),
      instance: running !== undefined && isUp(running.instance) ? running.instance.id : undefined,
      version: known?.manifest.version,
      digest: known?.digest ?? plugin.digest,
      confinement: running?.instance.confinement,
      crashes: budget.count(scheduler.now()),
      message: running === undefined && starting === undefined ? failure?.message : undefined,
    }),
  };

  function stateOf(): PluginStanding["state"] {
    if (running !== undefined) return isUp(running.instance) ? "running" : "ending";
    if (starting !== undefined) return "starting";
    if (isQuarantined) return "quarantined";
    return failure?.state ?? "idle";
  }
}

/** Starts that fail so are the plugin's own doing; anything else would fail with any plugin, or is no failure. */
const ownEnds: ReadonlySet<ProcessPluginError["code"]> = new Set<ProcessPluginError["code"]>([
  "PLUGIN_NOT_STARTED",
  "PLUGIN_TIMEOUT",
  "PLUGIN_PROTOCOL",
  "PLUGIN_EXITED",
  "PLUGIN_NOT_ENDED",
]);

function rejectionEvent(error: ProcessPluginError, plugin: string, expected: string | undefined): PluginEvent {
  const { code, measured, message } = error;
  const problems = error.problems.length > 0 ? error.problems : [message];
  return { type: "plugin.rejected", plugin, code, problems, expected, measured };
}
