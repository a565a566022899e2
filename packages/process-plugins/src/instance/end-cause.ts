import type { PluginExit } from "../confine/plugin-process.js";
import { isProcessPluginError, type ProcessPluginError } from "../errors.js";
import { pluginFault } from "../pipe/plugin-fault.js";
import type { InstanceEnd } from "./instance.js";

/** Why an instance ends. */
export interface EndCause {
  readonly reason: InstanceEnd["reason"];
  /** What is told to the calls under way, and in the message of the end. */
  readonly error: ProcessPluginError;
}

/** How a process ended, after the plugin's name. */
export function exitWords({ code, signal, reason }: PluginExit): string {
  const how = code === undefined ? `was ended by ${signal ?? "a signal"}` : `ended with code ${code}`;
  return `${how}${exitReasons[reason] ?? ""}`;
}

const exitReasons: Readonly<Record<string, string>> = {
  memory: ": it was over its limit memoryBytes",
  disk: ": it was over its limit diskBytes",
  output: ": it was over its limit outputBytes",
  killed: ", which came from outside",
};

/** Of a plugin that exited when it was asked to, but not well. */
export function causeOfExit(exit: PluginExit | undefined, plugin: string): EndCause {
  const words = exit === undefined ? "has ended" : exitWords(exit);
  return { reason: "crashed", error: pluginFault(plugin, "PLUGIN_EXITED", `${words} when it was destroyed`) };
}

/** Of a plugin that did not answer `stop` and `destroy` as it has to. */
export function causeOfEnding(error: unknown, exit: PluginExit | undefined, plugin: string): EndCause {
  if (exit !== undefined) {
    return { reason: "crashed", error: pluginFault(plugin, "PLUGIN_EXITED", `${exitWords(exit)} when it was stopped`) };
  }
  if (!isProcessPluginError(error)) {
    return { reason: "crashed", error: pluginFault(plugin, "PLUGIN_EXITED", "was not stopped", { cause: error }) };
  }
  return { reason: reasons[error.code] ?? "crashed", error };
}

const reasons: Readonly<Record<string, EndCause["reason"]>> = {
  PLUGIN_TIMEOUT: "timeout",
  PLUGIN_ANSWERED_ERROR: "protocol",
  PLUGIN_PROTOCOL: "protocol",
};
