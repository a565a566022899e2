import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { ProcessPluginError } from "../errors.js";
import { readLimits, readTimeouts } from "../instance/instance-terms.js";
import type { CheckOptions } from "./check-plugin.js";

const names = [
  ...["folder", "prepare", "prepareTimeoutMs", "record", "escapes", "onStep", "onLog", "signal"],
  ...["interpreters", "readOnly", "allowUnconfined", "timeouts", "limits"],
];
const longestPrepareMs = 86_400_000;

/**
 * Looks at the options of `checkPlugin` before anything is made: a misspelled one could be the one that mattered.
 * @returns them, `folder` absolute and without links. @throws {ProcessPluginError} `OPTION_INVALID`.
 */
export async function readCheckOptions(options: CheckOptions): Promise<CheckOptions> {
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown !== undefined) throw invalid(`${unknown} is no option`);
  const { prepare, prepareTimeoutMs, escapes, timeouts, limits } = options;
  if (prepare !== undefined && prepare !== false && !isCommand(prepare)) {
    throw invalid("prepare is neither false nor a list of program and arguments");
  }
  if (prepareTimeoutMs !== undefined && !isWithin(prepareTimeoutMs, longestPrepareMs)) {
    throw invalid(`prepareTimeoutMs is not a whole number from 1 to ${longestPrepareMs}: ${prepareTimeoutMs}`);
  }
  for (const name of ["record", "allowUnconfined"] as const) {
    if (![undefined, true, false].includes(options[name])) throw invalid(`${name} is neither true nor false`);
  }
  if (![undefined, true, false, "own"].includes(escapes)) throw invalid('escapes is neither true, false nor "own"');
  for (const name of ["interpreters", "readOnly"] as const) {
    if (options[name] !== undefined && !isTexts(options[name])) throw invalid(`${name} is no list of paths`);
  }
  readTimeouts(timeouts ?? {});
  const { confinement: _, ...bounds } = limits ?? {};
  readLimits(bounds);
  return { ...options, folder: await readFolder(options.folder) };
}

async function readFolder(folder: unknown): Promise<string> {
  if (typeof folder !== "string") throw invalid("folder is no text");
  const path = resolve(folder);
  const found = await stat(path).catch(() => undefined); // told as no folder
  // A link says nothing of the folder that is copied: what counts is where it leads.
  if (found?.isDirectory()) return realpath(path);
  throw invalid(`folder is no folder: ${path}`);
}

function isCommand(value: unknown): boolean {
  return isTexts(value) && value.length > 0 && value[0] !== "";
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string" && !each.includes("\0"));
}

function isWithin(value: unknown, most: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most;
}

function invalid(message: string): ProcessPluginError {
  return new ProcessPluginError("OPTION_INVALID", message);
}
