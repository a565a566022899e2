import { createSandboxStarter, sweepControlGroups } from "@berth/process-confinement";
import { createMeasurer } from "@berth/spawn-attestation";
import { createOneByOne } from "../confine/plugin-sandboxes.js";
import { sandboxNames } from "../confine/sandbox-names.js";
import { isProcessPluginError, ProcessPluginError } from "../errors.js";
import { createPluginSlot, type PluginSlot } from "./plugin-slot.js";
import type { PluginSupervisor, SupervisorOptions } from "./supervisor.js";
import { readSupervisorOptions } from "./supervisor-terms.js";
import { createTurnstile } from "./turnstile.js";

/**
 * Holds many plugins, each in at most one instance, started when it is first asked for. Starts nothing by itself.
 * @throws {ProcessPluginError} `OPTION_INVALID`.
 */
export function createPluginSupervisor(options: SupervisorOptions): PluginSupervisor {
  const terms = readSupervisorOptions(options);
  const measurer = createMeasurer({
    limits: { maxEntries: 1_000_001, maxTreeBytes: 1024 ** 4, maxFileBytes: 1024 ** 4 },
  });
  if (terms.plugins.some(({ allowUnconfined }) => allowUnconfined !== true)) sweepControlGroups(sandboxNames);
  const starter = createSandboxStarter();
  const means = {
    terms,
    measurer,
    turnstile: createTurnstile(terms.maxStarts),
    openSandbox: starter.open,
    oneByOne: createOneByOne(),
  };
  const slots = new Map(terms.plugins.map((plugin) => [plugin.name, createPluginSlot(plugin, means)]));
  let isClosed = false;
  const slotOf = (name: string): PluginSlot => {
    if (isClosed) throw new ProcessPluginError("PLUGINS_CLOSED", "the supervisor was closed");
    const slot = slots.get(name);
    if (slot !== undefined) return slot;
    throw new ProcessPluginError("PLUGIN_UNKNOWN", `there is no plugin ${JSON.stringify(name)}`);
  };

  const endAll = async (): Promise<void> => {
    isClosed = true;
    const ends = await Promise.allSettled([...slots.values()].map((slot) => slot.close()));
    await Promise.all([measurer.close(), starter.close()]);
    const faults = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
    if (faults.length > 0) throw faultOf(faults);
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= endAll().catch((error: unknown) => {
      closing = undefined; // what could not be confirmed now may be later
      throw error;
    });
    return closing;
  };
  return {
    list: () => [...slots.values()].map((slot) => slot.standing()),
    instance: async (name, { signal } = {}) => slotOf(name).instance(signal),
    release: async (name) => slotOf(name).release(),
    stop: async (name) => slotOf(name).stop(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The one that says that processes are left, where there is one. */
function faultOf(faults: readonly unknown[]): unknown {
  return faults.find((fault) => isProcessPluginError(fault) && fault.code === "PLUGIN_NOT_ENDED") ?? faults[0];
}
