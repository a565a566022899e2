import { createMeasurer, isAttestationError, type Measurement, measureLaunch } from "@berth/spawn-attestation";
import { confinedDataFolder } from "../confine/plugin-process.js";
import { ProcessPluginError } from "../errors.js";
import type { InspectTerms } from "./inspect-options.js";
import type { InspectedPlugin } from "./inspected-plugin.js";
import { describePlugin, neverAsk } from "./plugin-launch.js";

/**
 * Measures the whole folder of a plugin, and finds what its executable would run on.
 * @throws {ProcessPluginError} `PLUGIN_REJECTED`, `PLUGIN_CHANGED` when it changed meanwhile, `PLUGINS_CLOSED`. Also the signal's reason.
 */
export async function measurePlugin(
  plugin: Pick<InspectedPlugin, "root" | "manifest" | "executable">,
  { maxEntries, maxTreeBytes, measurer, signal }: InspectTerms,
): Promise<Measurement> {
  const limits = { maxEntries: maxEntries + 1, maxTreeBytes, maxFileBytes: maxTreeBytes };
  const own = measurer ?? createMeasurer({ limits });
  try {
    return await measureLaunch(describePlugin(plugin, confinedDataFolder), { measurer: own, ask: neverAsk, signal });
  } catch (error) {
    throw rejectionOf(error, plugin.manifest.name);
  } finally {
    if (measurer === undefined) await own.close();
  }
}

/** The refusal of a measurement, or of a check later, in this package's terms; what is none of these is given back. */
export function rejectionOf(error: unknown, plugin: string): unknown {
  if (!isAttestationError(error)) return error;
  const details = { plugin, cause: error, advice: error.advice };
  switch (error.code) {
    case "MEASURER_CLOSED":
      return new ProcessPluginError("PLUGINS_CLOSED", "the measurer was closed", details);
    case "TREE_CHANGED":
    case "FILE_CHANGED":
    case "TARGET_CHANGED":
    case "DIGEST_MISMATCH":
      return new ProcessPluginError("PLUGIN_CHANGED", `${plugin}: ${error.message}`, details);
    default:
      return new ProcessPluginError("PLUGIN_REJECTED", `${plugin}: ${error.message}`, {
        ...details,
        problems: [error.message],
      });
  }
}
