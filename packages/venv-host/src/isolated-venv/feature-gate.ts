import { VenvHostError } from "../errors.js";
import { pythonCapabilities } from "../executor/extensions/capabilities.js";
import type { PluginEntry } from "../executor/plugin-config.js";
import type { WorkerFeatures } from "../worker/worker.js";

const CREDENTIAL_CAPABILITIES: readonly string[] = ["read_inbound_credentials", "read_delegated_tokens"];
const WRITE_CAPABILITIES: readonly string[] = ["write_headers", "append_labels", "append_delegation"];
const WIRE_CAPABILITIES: readonly string[] = pythonCapabilities;

/** The names that a worker accepts; with any other it refuses every call. */
export function wireCapabilities(capabilities: readonly string[]): readonly string[] {
  return capabilities.filter((name) => WIRE_CAPABILITIES.includes(name));
}

/** Whether tokens may come to the plugin. */
export function mayHoldTokens({ capabilities }: Pick<PluginEntry, "capabilities">): boolean {
  return capabilities.some((name) => CREDENTIAL_CAPABILITIES.includes(name));
}

/**
 * A worker without a feature would drop silently what a plugin was promised (CPEX fact sheet § 2.8).
 * @throws {VenvHostError} `CREDENTIAL_ERROR` naming what is missing, for whom, and what the worker said of itself.
 */
export function checkFeatures(entry: PluginEntry, worker: WorkerFeatures): void {
  const needs = [
    { feature: "credential", for: entry.capabilities.filter((name) => CREDENTIAL_CAPABILITIES.includes(name)) },
    { feature: "extensions", for: wireCapabilities(entry.capabilities) },
    { feature: "modified_extensions", for: entry.capabilities.filter((name) => WRITE_CAPABILITIES.includes(name)) },
  ];
  const missing = needs.filter((need) => need.for.length > 0 && !worker.features.includes(need.feature));
  if (missing.length === 0) return;
  const features = missing.map(({ feature }) => feature).join(", ");
  const capabilities = [...new Set(missing.flatMap((need) => need.for))].join(", ");
  const version = worker.cpexVersion === undefined ? "tells no version" : `is of cpex ${worker.cpexVersion}`;
  throw new VenvHostError(
    "CREDENTIAL_ERROR",
    `the worker of plugin ${entry.name} ${version} and lacks: ${features}; needed for its capabilities ${capabilities} in ${entry.hooks.join(", ")}`,
    { step: "probe", cure: "Install cpex 0.1.4 or later in the plugin's environment." },
  );
}
