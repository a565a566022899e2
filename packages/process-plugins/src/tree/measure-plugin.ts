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
  // An interpreter outside of the folder is a file, too: a small plugin may have a large one.
  const limits = { maxEntries: maxEntries + 1, maxTreeBytes, maxFileBytes: Math.max(maxTreeBytes, largestProgram) };
  const own = measurer ?? createMeasurer({ limits });
  try {
    return await measureLaunch(describePlugin(plugin, confinedDataFolder), { measurer: own, ask: neverAsk, signal });
  } catch (error) {
    throw rejectionOf(error, plugin.manifest.name);
  } finally {
    if (measurer === undefined) await own.close();
  }
}

const largestProgram = 4 * 1024 ** 3;

/** The refusal of a measurement, or of a check later, in this package's terms; what is none of these is given back. */
export function rejectionOf(error: unknown, plugin: string): unknown {
  if (!isAttestationError(error)) return error;
  // What is said of a tree names settings that this package's callers do not have.
  const advice = /^(?:TREE|FILE)_/.test(error.code) ? "correct the plugin's folder" : error.advice;
  const details = { plugin, cause: error, advice };
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
