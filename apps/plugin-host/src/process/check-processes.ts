import type { Check } from "@berth/command-line/doctor";
import { type ConfinementLimits, isConfinementError, limitNames, selfTest } from "@berth/process-confinement";
import {
  type InspectedPlugin,
  inspectPlugin,
  isProcessPluginError,
  type SupervisedPlugin,
} from "@berth/process-plugins";
import type { PluginEntry } from "@berth/venv-host/executor";
import { isProcess, type ProcessesSource, readProcesses } from "./open-processes.js";
import { nextStep } from "./plugin-words.js";

/** What keeps process plugins from running: nothing is started but the sandbox's own test. */
export async function checkProcesses(source: ProcessesSource, signal: AbortSignal): Promise<readonly Check[]> {
  const plugins = readProcesses(source);
  const holds = createSandboxTest(signal);
  const checks: Check[] = [];
  for (const [at, entry] of source.config.plugins.filter(isProcess).entries()) {
    const plugin = plugins[at];
    if (plugin === undefined) continue;
    checks.push(await lookAtFolder(entry, plugin, signal), await lookAtSandbox(entry, plugin, holds));
    signal.throwIfAborted();
  }
  return checks;
}

/** Without its hooks nothing starts: a host would allow what the plugin might deny. */
function weight({ hooks, onError }: PluginEntry): "fail" | "warn" {
  return hooks.length === 0 && onError !== "ignore" ? "fail" : "warn";
}

async function lookAtFolder(entry: PluginEntry, plugin: SupervisedPlugin, signal: AbortSignal): Promise<Check> {
  const name = `plugin ${entry.name}`;
  try {
    const inspected = await inspectPlugin(plugin.folder, { digest: plugin.digest, signal });
    return { name, status: "ok", message: shown(inspected, plugin.digest !== undefined) };
  } catch (error) {
    if (!isProcessPluginError(error)) throw error;
    const { problems, message } = error;
    const advice = error.code === "PLUGIN_CHANGED" ? nextStep(error, true) : error.advice;
    return { name, status: weight(entry), message: problems.length > 0 ? problems.join("; ") : message, advice };
  }
}

function shown({ root, manifest: { version }, digest, files }: InspectedPlugin, isPinned: boolean): string {
  return `${version} in ${root}, ${files} files, ${digest}${isPinned ? ", as it was admitted" : ""}`;
}

type SandboxTest = (limits: ConfinementLimits | undefined) => Promise<unknown>;

/** Which limits are named, not their values, is what is tried: once each. */
function createSandboxTest(signal: AbortSignal): SandboxTest {
  const tests = new Map<string, Promise<unknown>>();
  return (limits = {}) => {
    const names = limitNames.filter((name) => limits[name] !== undefined);
    const test = tests.get(names.join()) ?? selfTest({ limits: names, signal });
    tests.set(names.join(), test);
    return test;
  };
}

async function lookAtSandbox(
  entry: PluginEntry,
  { allowUnconfined, limits }: SupervisedPlugin,
  holds: SandboxTest,
): Promise<Check> {
  const name = `sandbox of plugin ${entry.name}`;
  if (allowUnconfined === true) {
    const advice = "for development only: take allow_unconfined out of its entry";
    return { name, status: "warn", message: "it runs without one, with all rights of this user", advice };
  }
  try {
    await holds(limits?.confinement);
    return { name, status: "ok", message: "this machine holds it" };
  } catch (error) {
    if (!isConfinementError(error)) throw error;
    return { name, status: weight(entry), message: error.message, advice: error.cure };
  }
}
