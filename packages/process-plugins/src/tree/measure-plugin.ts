import {
  type AttestationErrorCode,
  createMeasurer,
  isAttestationError,
  type Measurement,
  measureLaunch,
} from "@berth/spawn-attestation";
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

/** What is said of a launch names settings, and a command line, that a plugin does not have (PROTOCOL.md § 1). */
export function adviceFor(code: AttestationErrorCode): string {
  if (changes.has(code)) return "look at what changed, then admit the digest that berth-plugin-host check prints";
  if (/^(?:TREE|FILE)_/.test(code)) return "correct the plugin's folder";
  return "correct the #! line of its executable: a program that is there, without a carriage return; one outside of /usr is named by the operator, as --interpreter";
}

const changes: ReadonlySet<AttestationErrorCode> = new Set<AttestationErrorCode>([
  "TREE_CHANGED",
  "FILE_CHANGED",
  "TARGET_CHANGED",
  "DIGEST_MISMATCH",
]);

const largestProgram = 4 * 1024 ** 3;

/** The refusal of a measurement, or of a check later, in this package's terms; what is none of these is given back. */
export function rejectionOf(error: unknown, plugin: string): unknown {
  if (!isAttestationError(error)) return error;
  const details = { plugin, cause: error, advice: adviceFor(error.code) };
  if (error.code === "MEASURER_CLOSED")
    return new ProcessPluginError("PLUGINS_CLOSED", "the measurer was closed", { plugin, cause: error });
  const isChange = changes.has(error.code);
  return new ProcessPluginError(isChange ? "PLUGIN_CHANGED" : "PLUGIN_REJECTED", `${plugin}: ${error.message}`, {
    ...details,
    problems: isChange ? [] : [error.message],
  });
}
