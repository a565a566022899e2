import { isConfinementError } from "@berth/process-confinement";
import { isProcessPluginError } from "../../errors.js";
import { processSelfTests } from "../../instance/self-tests.js";
import type { PluginManifest } from "../../manifest/manifest.js";
import { manifestLimits } from "../../manifest/manifest-schema.js";
import { readManifest } from "../../manifest/read-manifest.js";
import { inspectPlugin } from "../../tree/inspect-plugin.js";
import type { InspectedPlugin } from "../../tree/inspected-plugin.js";
import { readPluginText } from "../files/read-plugin-text.js";
import type { CheckContext } from "./check-context.js";

export const layoutAdvice = "PROTOCOL.md § 1 says what may be in the folder";

/** Undefined when it is refused: the ledger has all faults. */
export async function lookAtManifest({ bench, ledger }: CheckContext): Promise<PluginManifest | undefined> {
  const read = await readPluginText(bench.copy, "plugin.json", manifestLimits.bytes);
  const reading = read.kind === "text" ? await readManifest(read.text) : undefined;
  if (reading?.ok) {
    const { name, version, protocol } = reading.manifest;
    ledger.passed("manifest", `${name} ${version}, protocol ${protocol}`);
    return reading.manifest;
  }
  const unread = read.kind === "unreadable" ? read.why : "there is no plugin.json";
  const seen = reading === undefined ? unread : reading.problems.join("; ");
  ledger.failed("manifest", seen, "correct plugin.json: PROTOCOL.md § 1 has its keys");
  return undefined;
}

/** Layout, modes and digest of the copy. */
export async function lookAtTree({ options, bench, ledger }: CheckContext): Promise<InspectedPlugin | undefined> {
  try {
    const inspected = await inspectPlugin(bench.copy, { signal: options.signal });
    ledger.passed("tree", `${inspected.files} files, ${inspected.bytes} bytes, ${inspected.digest}`);
    return inspected;
  } catch (error) {
    options.signal?.throwIfAborted();
    if (!isProcessPluginError(error)) throw error;
    const seen = error.problems.length > 0 ? error.problems.join("; ") : error.message;
    ledger.failed("tree", seen.replaceAll(`${bench.copy}/`, ""), error.advice ?? layoutAdvice);
    return undefined;
  }
}

/** Whether it may go on: a sandbox holds here, or none is wanted. */
export async function lookAtConfinement({ options, ledger }: CheckContext): Promise<boolean> {
  if (options.allowUnconfined === true) {
    ledger.skipped("confinement", "it runs unconfined, as was allowed");
    return true;
  }
  try {
    await processSelfTests.passed(options.limits?.confinement ?? {}, options.signal);
    ledger.passed("confinement", "a sandbox of bubblewrap held against what was tried");
    return true;
  } catch (error) {
    options.signal?.throwIfAborted();
    if (!isConfinementError(error)) throw error;
    ledger.failed("confinement", error.message, error.cure ?? "berth-plugin-host doctor tells what is missing");
    return false;
  }
}
