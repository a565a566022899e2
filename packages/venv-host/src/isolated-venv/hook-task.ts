import type { PluginCall } from "../executor/plugin-call.js";
import type { PluginEntry } from "../executor/plugin-config.js";
import { writePluginCall } from "../executor/plugin-task.js";
import type { WorkerTask } from "../worker/worker.js";
import { wireCapabilities } from "./feature-gate.js";
import type { VenvBlock } from "./read-block.js";

/** What all tasks of one plugin have in common. */
export interface TaskFrame {
  /** Built once: the worker makes a new instance of the plugin when a byte of it changes. */
  readonly config: string;
  readonly pluginDirs: readonly string[];
  readonly className: string;
  readonly pluginName: string;
}

/**
 * Mode, on_error, priority and version are left out: a worker that knew them would hide denies and errors from the executor,
 * whose decision they are.
 */
export function createTaskFrame(
  entry: PluginEntry,
  block: VenvBlock,
  pluginsFolder: string,
  maxContentBytes: number,
): TaskFrame {
  const config = JSON.stringify({
    name: entry.name,
    kind: entry.kind,
    hooks: entry.hooks,
    capabilities: wireCapabilities(entry.capabilities),
    config: entry.config ?? null,
    // The worker counts characters with the line feed, and takes a line of exactly its limit without one for a cut one.
    max_content_size: maxContentBytes + 1,
  });
  return { config, pluginDirs: [pluginsFolder], className: block.className, pluginName: entry.name };
}

/** The task of one call; the token, where it has one, is in it and nowhere else. */
export function createHookTask({ config, pluginDirs, className, pluginName }: TaskFrame, call: PluginCall): WorkerTask {
  return {
    task_type: "load_and_run_hook",
    plugin_dirs: pluginDirs,
    class_name: className,
    config,
    plugin_name: pluginName,
    ...writePluginCall(call),
  };
}

/** What of a call must appear in no log line and no error. */
export function secretsOf({ credential }: PluginCall): readonly string[] {
  if (credential === undefined) return [];
  return ["inbound" in credential ? credential.inbound.token : credential.delegated.token];
}
