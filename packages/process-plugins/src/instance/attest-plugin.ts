import {
  type AttestedChild,
  attestedSpawn,
  type Decision,
  isAttestationError,
  type Launch,
  type Measurer,
  type Recheck,
} from "@berth/spawn-attestation";
import { confinedDataFolder, type PluginProcess } from "../confine/plugin-process.js";
import { isProcessPluginError, ProcessPluginError } from "../errors.js";
import { adviceFor } from "../tree/measure-plugin.js";
import { describePlugin, neverAsk } from "../tree/plugin-launch.js";
import type { InstanceTerms } from "./instance-terms.js";
import type { PluginEvent } from "./plugin-event.js";

/** How the attestation reaches the process. */
export interface AttestedStart {
  readonly measurer: Measurer;
  readonly signal: AbortSignal | undefined;
  /** Awaited before the decision is recorded. */
  readonly looked: Promise<void>;
  /** Called at most once, after the decision was recorded. */
  readonly spawn: (launch: Launch, recheck: Recheck) => Promise<PluginProcess>;
  /** Ends what turned out to be something else than was measured. */
  readonly end: () => Promise<void>;
}

/** The data folder as the process sees it. */
export function innerDataFolder({ allowUnconfined, dataFolder }: InstanceTerms): string {
  return allowUnconfined ? dataFolder : confinedDataFolder;
}

/**
 * Measures what would run, compares it with the digest of `terms.plugin`, records, and only then spawns (@berth/spawn-attestation).
 * @throws {ProcessPluginError} `PLUGIN_CHANGED`, `PLUGIN_REJECTED`, `NOT_RECORDED`; what `spawn` threw; the signal's reason.
 */
export async function attestPlugin(
  terms: InstanceTerms,
  { measurer, signal, looked, spawn, end }: AttestedStart,
): Promise<AttestedChild<PluginProcess>> {
  try {
    return await attestedSpawn({
      description: { ...describePlugin(terms.plugin, innerDataFolder(terms)), digest: terms.plugin.digest },
      policy: { allowUnmeasuredSpawn: false },
      ask: neverAsk,
      record: async (decision) => {
        await looked;
        await recordEvent(terms, eventOf(decision, terms));
      },
      spawn,
      spawnRechecks: !terms.allowUnconfined, // see start-ahead.ts
      end,
      measurer,
      signal,
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw refusalOf(error, terms);
  }
}

/** @throws {ProcessPluginError} `PLUGIN_CHANGED`, after the process was ended. Also the signal's reason. */
export async function recheckPlugin(
  child: AttestedChild<PluginProcess>,
  terms: InstanceTerms,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await child.recheck({ signal });
  } catch (error) {
    signal?.throwIfAborted();
    throw refusalOf(error, terms);
  }
}

/** @throws {ProcessPluginError} `NOT_RECORDED`. */
export async function recordEvent({ record, name }: InstanceTerms, event: PluginEvent): Promise<void> {
  try {
    await record(event);
  } catch (cause) {
    throw new ProcessPluginError("NOT_RECORDED", `${event.type} of plugin ${name} could not be recorded`, {
      plugin: name,
      cause,
    });
  }
}

function eventOf(decision: Decision, terms: InstanceTerms): PluginEvent {
  const { name, plugin, instanceId, allowUnconfined, confinementLimits } = terms;
  const { version } = plugin.manifest;
  const { verdict, expected, measured, message, reason } = decision;
  if (verdict === "refuse") {
    const code = codeOf(reason);
    return { type: "plugin.rejected", plugin: name, code, problems: [message], expected, measured };
  }
  return {
    type: "plugin.admitted",
    plugin: name,
    version,
    instance: instanceId,
    digest: measured ?? plugin.digest,
    files: plugin.files,
    bytes: plugin.bytes,
    confinement: allowUnconfined ? "unconfined" : "bubblewrap",
    limits: Object.entries(confinementLimits).map(([limit, value]) => `${limit} ${value}`),
  };
}

const changed: ReadonlySet<string | undefined> = new Set([
  "DIGEST_MISMATCH",
  "TARGET_CHANGED",
  "TREE_CHANGED",
  "FILE_CHANGED",
]);

function codeOf(reason: string | undefined): "PLUGIN_CHANGED" | "PLUGIN_REJECTED" {
  return changed.has(reason) ? "PLUGIN_CHANGED" : "PLUGIN_REJECTED";
}

function refusalOf(error: unknown, { name }: InstanceTerms): unknown {
  if (isProcessPluginError(error) || !isAttestationError(error)) return error;
  const details = { plugin: name, problems: [error.message], advice: adviceFor(error.code), cause: error };
  return new ProcessPluginError(codeOf(error.code), `plugin ${name} does not run: ${error.message}`, details);
}
