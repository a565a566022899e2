import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import { type Scheduler, systemScheduler } from "@berth/jsonrpc-framing";
import type { ConfinementLimits } from "@berth/process-confinement";
import { ProcessPluginError } from "../errors.js";
import type { InstanceOptions, PluginLimits, PluginTimeouts } from "./instance.js";

/** InstanceOptions with defaults filled in; the only form that internal code sees. */
export interface InstanceTerms
  extends Pick<InstanceOptions, "plugin" | "dataFolder" | "interpreters" | "readOnly" | "host"> {
  readonly name: string;
  /** Names the instance and its sandbox; never used again. */
  readonly instanceId: string;
  readonly allowUnconfined: boolean;
  readonly timeouts: { readonly [key in keyof PluginTimeouts]-?: number };
  readonly limits: { readonly [key in Exclude<keyof PluginLimits, "confinement">]-?: number };
  readonly confinementLimits: ConfinementLimits;
  readonly record: NonNullable<InstanceOptions["record"]>;
  readonly onLog: NonNullable<InstanceOptions["onLog"]>;
  readonly scheduler: Scheduler;
}

interface Range {
  readonly least: number;
  readonly most: number;
  /** Used when the option is absent. */
  readonly otherwise: number;
}

/** For what a plugin is waited for, in milliseconds. */
const wait = (otherwise: number): Range => ({ least: 1, most: 3_600_000, otherwise });

/** @throws {ProcessPluginError} `OPTION_INVALID`, naming the option. */
export function readInstanceOptions(options: InstanceOptions): InstanceTerms {
  const { plugin, dataFolder, interpreters, readOnly, host, limits = {}, timeouts = {} } = options;
  if (typeof dataFolder !== "string" || !isAbsolute(dataFolder)) throw invalid("dataFolder is not an absolute path");
  if (typeof host.name !== "string" || typeof host.version !== "string") throw invalid("host has no name and version");
  const { confinement = {}, ...bounds } = limits;
  return {
    ...{ plugin, dataFolder, interpreters, readOnly, host },
    name: options.name ?? plugin.manifest.name,
    instanceId: `plugin-${randomUUID()}`,
    allowUnconfined: options.allowUnconfined === true,
    timeouts: readTimeouts(timeouts),
    limits: readLimits(bounds),
    confinementLimits: confinement,
    record: options.record ?? (() => {}),
    onLog: options.onLog ?? (() => {}),
    scheduler: options.scheduler ?? systemScheduler,
  };
}

/** @throws {ProcessPluginError} `OPTION_INVALID`. */
export function readTimeouts(given: PluginTimeouts): InstanceTerms["timeouts"] {
  const terms = {
    createMs: readNumber("timeouts.createMs", given.createMs, wait(10_000)),
    startMs: readNumber("timeouts.startMs", given.startMs, wait(10_000)),
    healthMs: readNumber("timeouts.healthMs", given.healthMs, wait(5_000)),
    callMs: readNumber("timeouts.callMs", given.callMs, wait(60_000)),
    stopMs: readNumber("timeouts.stopMs", given.stopMs, wait(5_000)),
    exitMs: readNumber("timeouts.exitMs", given.exitMs, wait(2_000)),
    terminateMs: readNumber("timeouts.terminateMs", given.terminateMs, wait(2_000)),
  };
  refuseUnknown("timeouts", given, terms);
  return terms;
}

/** @throws {ProcessPluginError} `OPTION_INVALID`. */
export function readLimits(given: Omit<PluginLimits, "confinement">): InstanceTerms["limits"] {
  const { maxMessageBytes, maxCalls, maxLogBytes, maxLogLinesPerSecond } = given;
  const message = { least: 1_024, most: 67_108_864, otherwise: 4_194_304 };
  const lines = { least: 1, most: 100_000, otherwise: 1_000 };
  const terms = {
    maxMessageBytes: readNumber("limits.maxMessageBytes", maxMessageBytes, message),
    maxCalls: readNumber("limits.maxCalls", maxCalls, { least: 1, most: 10_000, otherwise: 256 }),
    maxLogBytes: readNumber("limits.maxLogBytes", maxLogBytes, { least: 80, most: 1_048_576, otherwise: 8_192 }),
    maxLogLinesPerSecond: readNumber("limits.maxLogLinesPerSecond", maxLogLinesPerSecond, lines),
  };
  refuseUnknown("limits", given, terms);
  return terms;
}

function readNumber(name: string, value: number | undefined, { least, most, otherwise }: Range): number {
  const number = value ?? otherwise;
  if (Number.isInteger(number) && number >= least && number <= most) return number;
  throw invalid(`${name} is not a whole number from ${least} to ${most}: ${number}`);
}

/** Most likely a misspelled one, whose bound would be lost. */
function refuseUnknown(group: string, given: object, known: object): void {
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(known, key));
  if (unknown !== undefined) throw invalid(`${group}.${unknown} is no option`);
}

function invalid(message: string): ProcessPluginError {
  return new ProcessPluginError("OPTION_INVALID", message);
}
