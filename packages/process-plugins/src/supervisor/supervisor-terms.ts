import { isAbsolute, resolve } from "node:path";
import { type Scheduler, systemScheduler } from "@berth/jsonrpc-framing";
import { isWithin } from "../confine/data-folder.js";
import { ProcessPluginError } from "../errors.js";
import type { SupervisedPlugin, SupervisorOptions } from "./supervisor.js";

/** SupervisorOptions with defaults filled in; the only form that internal code sees. */
export interface SupervisorTerms extends Pick<SupervisorOptions, "host"> {
  readonly plugins: readonly SupervisedPlugin[];
  readonly maxCrashes: number;
  readonly crashWindowMs: number;
  readonly maxStarts: number;
  readonly record: NonNullable<SupervisorOptions["record"]>;
  readonly onLog: NonNullable<SupervisorOptions["onLog"]>;
  readonly scheduler: Scheduler;
}

/** @throws {ProcessPluginError} `OPTION_INVALID`, naming the option. */
export function readSupervisorOptions(options: SupervisorOptions): SupervisorTerms {
  const { plugins, host, maxCrashes = 3, crashWindowMs = 60_000, maxStarts = 4 } = options;
  plugins.forEach((plugin, index) => void checkPlugin(plugin, plugins.slice(0, index)));
  refuseWritableFolders(plugins);
  return {
    plugins,
    host,
    maxCrashes: whole("maxCrashes", maxCrashes, 1, 1_000),
    crashWindowMs: whole("crashWindowMs", crashWindowMs, 1_000, 86_400_000),
    maxStarts: whole("maxStarts", maxStarts, 1, 256),
    record: options.record ?? (() => {}),
    onLog: options.onLog ?? (() => {}),
    scheduler: options.scheduler ?? systemScheduler,
  };
}

function checkPlugin({ name, folder, dataFolder }: SupervisedPlugin, earlier: readonly SupervisedPlugin[]): void {
  if (typeof name !== "string" || !/^[^\p{Cc}]{1,200}$/u.test(name))
    throw invalid("the name of a plugin is no text of 1 to 200 characters");
  if (earlier.some((other) => other.name === name)) throw invalid(`plugins: ${name} stands twice`);
  for (const [option, path] of Object.entries({ folder, dataFolder })) {
    if (typeof path !== "string" || !isAbsolute(path))
      throw invalid(`plugins: ${option} of ${name} is no absolute path`);
  }
  const shared = earlier.find((other) => overlap(resolve(other.dataFolder), resolve(dataFolder)));
  // What one of them writes, the other would run with.
  if (shared !== undefined) throw invalid(`plugins: the data folders of ${shared.name} and ${name} lie in one another`);
}

/** A plugin in a data folder could be exchanged by the plugin whose data folder it is. */
function refuseWritableFolders(plugins: readonly SupervisedPlugin[]): void {
  for (const { name, folder } of plugins) {
    const writer = plugins.find(({ dataFolder }) => overlap(resolve(dataFolder), resolve(folder)));
    if (writer === undefined) continue;
    throw invalid(`plugins: the folder of ${name} and the data folder of ${writer.name} lie in one another`);
  }
}

function overlap(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

function whole(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalid(`${name} is not a whole number from ${least} to ${most}: ${value}`);
}

function invalid(message: string): ProcessPluginError {
  return new ProcessPluginError("OPTION_INVALID", message);
}
