import { type AttestedChild, createMeasurer, type Launch, type Measurer, type Recheck } from "@berth/spawn-attestation";
import { confinementRefusal } from "../confine/confinement-refusal.js";
import type { PluginProcess, PluginProcessOptions } from "../confine/plugin-process.js";
import { type AheadStart, startAhead } from "../confine/start-ahead.js";
import type { OpenSandbox } from "../confine/start-confined.js";
import { startUnconfined } from "../confine/start-unconfined.js";
import { isProcessPluginError, ProcessPluginError, type ProcessPluginErrorDetails } from "../errors.js";
import { pluginFault } from "../pipe/plugin-fault.js";
import { attestPlugin, innerDataFolder, recheckPlugin, recordEvent } from "./attest-plugin.js";
import type { Capabilities } from "./ave-answers.js";
import type { EndCause } from "./end-cause.js";
import { type HeldProcess, holdProcess } from "./hold-process.js";
import type { InstanceEnd, InstanceOptions, PluginInstance } from "./instance.js";
import { type InstanceTerms, readInstanceOptions } from "./instance-terms.js";
import type { PluginEvent } from "./plugin-event.js";
import { presentInstance } from "./present-instance.js";
import { processSelfTests, type SelfTests } from "./self-tests.js";

/**
 * Runs one plugin: tests the confinement (once for the process and its limits), measures, decides, records, spawns, creates, compares once more, starts. When it
 * rejects, nothing is left of the process.
 * @throws {ProcessPluginError} `OPTION_INVALID`, `CONFINEMENT_UNAVAILABLE`, `PLUGIN_CHANGED`, `PLUGIN_REJECTED`, `NOT_RECORDED`: nothing was spawned, but that a
 * change can be seen later too. `PLUGIN_NOT_STARTED`, `PLUGIN_TIMEOUT`, `PLUGIN_PROTOCOL`, `PLUGIN_NOT_ENDED`. Also the signal's reason.
 */
export function openInstance(options: InstanceOptions): Promise<PluginInstance> {
  return openInstanceWith({}, options);
}

/** What a start is made with. */
export interface InstanceMeans {
  readonly selfTests?: SelfTests | undefined;
  readonly openSandbox?: OpenSandbox | undefined;
  /** Looks at the folder while it is measured. What it throws is thrown, and nothing of the plugin is recorded or runs. */
  readonly look?: (() => Promise<void>) | undefined;
  /** Told of processes that were not seen to be gone when a start failed: `PLUGIN_NOT_ENDED`. */
  readonly onLeftOver?: ((left: LeftOver) => void) | undefined;
}

/** Processes whose end is still to be confirmed. */
export type LeftOver = Pick<PluginProcess, "kill">;

/** As `openInstance`, with means that are passed in. */
export async function openInstanceWith(means: InstanceMeans, options: InstanceOptions): Promise<PluginInstance> {
  const { signal } = options;
  signal?.throwIfAborted();
  const terms = readInstanceOptions(options);
  const beganMs = terms.scheduler.now();
  await requireConfinement(means.selfTests ?? processSelfTests, terms, signal);
  const measurer = options.measurer ?? createMeasurer();
  // While the folder is looked at and measured, the sandbox comes up. Nothing of the plugin runs in it before that is over.
  const ahead = terms.allowUnconfined ? undefined : startAhead({ ...processOptions(terms, signal), ...means });
  const looked = Promise.resolve(means.look?.());
  looked.catch(() => {}); // awaited before anything is recorded
  try {
    return await start(terms, { measurer, signal, beganMs, ahead, looked, onLeftOver: means.onLeftOver });
  } finally {
    await ahead?.drop();
    if (options.measurer === undefined) await measurer.close();
  }
}

async function requireConfinement(
  selfTests: SelfTests,
  terms: InstanceTerms,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (terms.allowUnconfined) return;
  try {
    await selfTests.passed(terms.confinementLimits, signal);
  } catch (error) {
    signal?.throwIfAborted();
    const { name } = terms;
    const refusal = confinementRefusal(error, name);
    if (!isProcessPluginError(refusal)) throw error;
    const { code, message } = refusal;
    await recordEvent(terms, { type: "plugin.rejected", plugin: name, code, problems: [message] });
    throw refusal;
  }
}

interface Beginning {
  readonly measurer: Measurer;
  readonly signal: AbortSignal | undefined;
  readonly beganMs: number;
  readonly ahead: AheadStart | undefined;
  readonly looked: Promise<void>;
  readonly onLeftOver: InstanceMeans["onLeftOver"];
}

async function start(
  terms: InstanceTerms,
  { measurer, signal, beganMs, ahead, looked, onLeftOver }: Beginning,
): Promise<PluginInstance> {
  let held: HeldProcess | undefined;
  let creating: Promise<Capabilities> | undefined;
  let lastRecorded: PluginEvent["type"] | undefined;
  const record = async (event: PluginEvent): Promise<void> => {
    await terms.record(event);
    lastRecorded = event.type;
  };
  const spawn = async (launch: Launch, recheck: Recheck): Promise<PluginProcess> => {
    const process = await (ahead?.letGo(launch, recheck) ??
      startUnconfined({ ...processOptions(terms, signal), launch }));
    held = holdProcess(process, terms, (end, stderrBytes) => recordEnd(terms, end, stderrBytes));
    // While it comes up its files are compared once more; that it does not is told to whoever waits for it below.
    creating = held.ave.create(innerDataFolder(terms), signal);
    creating.catch(() => {});
    return process;
  };
  const end = async (): Promise<void> => {
    const error = pluginFault(terms.name, "PLUGIN_CHANGED", "is not any more what was measured");
    const { confirmed } = (await held?.life.fail({ reason: "changed", error })) ?? { confirmed: true };
    if (!confirmed) throw new Error("its processes could not be seen to be gone");
  };
  try {
    const child = await attestPlugin({ ...terms, record }, { measurer, signal, looked, spawn, end });
    if (held === undefined || creating === undefined) throw new Error("a plugin was spawned without being held");
    return await startCreated(terms, held, await creating, child, signal, beganMs);
  } catch (error) {
    if (held !== undefined) throw await endStart(held, error, terms, onLeftOver);
    if (lastRecorded === "plugin.admitted") await recordEnd(terms, notStarted, 0);
    throw error;
  }
}

/** What stands on record for a plugin that was admitted and could not be spawned. */
const notStarted = { reason: "not-started", code: undefined, signal: undefined, confirmed: true };

function processOptions(
  { plugin, dataFolder, interpreters, readOnly, confinementLimits }: InstanceTerms,
  signal: AbortSignal | undefined,
): Omit<PluginProcessOptions, "launch"> {
  return { plugin, dataFolder, interpreters, readOnly, limits: confinementLimits, signal };
}

async function startCreated(
  terms: InstanceTerms,
  held: HeldProcess,
  capabilities: Capabilities,
  child: AttestedChild<PluginProcess>,
  signal: AbortSignal | undefined,
  beganMs: number,
): Promise<PluginInstance> {
  const { life, ave, process } = held;
  life.advance("created");
  held.learn(capabilities);
  await recheckPlugin(child, terms, signal);
  await ave.start(signal);
  life.advance("started");
  const startMs = Math.round(terms.scheduler.now() - beganMs);
  await recordEvent(terms, { type: "plugin.started", ...subjectOf(terms), pid: process.pid, startMs });
  signal?.throwIfAborted();
  return presentInstance(terms, held, capabilities);
}

function recordEnd(
  terms: InstanceTerms,
  { code, signal, confirmed, reason }: Omit<InstanceEnd, "message" | "reason"> & { readonly reason: string },
  stderrBytes: number,
): Promise<void> {
  const event = { type: "plugin.ended", ...subjectOf(terms), reason, code, signal, confirmed, stderrBytes } as const;
  return recordEvent(terms, event);
}

function subjectOf({ name, plugin, instanceId }: InstanceTerms): {
  readonly plugin: string;
  readonly version: string;
  readonly instance: string;
} {
  return { plugin: name, version: plugin.manifest.version, instance: instanceId };
}

/** Ends what was spawned, and gives back what to throw. */
async function endStart(
  held: HeldProcess,
  error: unknown,
  terms: InstanceTerms,
  onLeftOver: InstanceMeans["onLeftOver"],
): Promise<unknown> {
  const { confirmed, message } = await held.life.fail(causeOfStart(error, terms));
  const name = terms.name;
  if (!confirmed) {
    onLeftOver?.(held.process);
    return pluginFault(name, "PLUGIN_NOT_ENDED", "could not be seen to be gone", { cause: error });
  }
  if (!isProcessPluginError(error)) return error;
  if (error.code !== "PLUGIN_EXITED" && error.code !== "PLUGIN_ANSWERED_ERROR") return error;
  const details: ProcessPluginErrorDetails = {
    plugin: name,
    wire: error.wire,
    excerpt: held.log.lastStderr,
    cause: error,
  };
  return new ProcessPluginError("PLUGIN_NOT_STARTED", `${message}, before it was started`, details);
}

/** Why a start that failed ends the plugin; what the plugin did by itself is known already, and counts. */
function causeOfStart(error: unknown, terms: InstanceTerms): EndCause {
  const { name } = terms;
  if (!isProcessPluginError(error)) {
    return {
      reason: "killed",
      error: pluginFault(name, "PLUGIN_EXITED", "was ended while it started", { cause: error }),
    };
  }
  return { reason: reasons[error.code] ?? "killed", error };
}

const reasons: Readonly<Record<string, EndCause["reason"]>> = {
  PLUGIN_TIMEOUT: "timeout",
  PLUGIN_PROTOCOL: "protocol",
  PLUGIN_CHANGED: "changed",
  PLUGIN_ANSWERED_ERROR: "protocol",
  PLUGIN_EXITED: "crashed",
};
