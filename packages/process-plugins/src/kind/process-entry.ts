import { join, resolve } from "node:path";
import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { type ConfinementLimits, limitRanges } from "@berth/process-confinement";
import type { SupervisedPlugin } from "../supervisor/supervisor.js";

/** What a process plugin needs of its entry in plugins.yaml: `{name, kind: process, dir, …}`. */
export interface ProcessKindEntry {
  readonly name: string;
  readonly hooks: readonly string[];
  readonly config: JsonObject | undefined;
  /** Other keys of the entry: `dir`, `digest`, `interpreters`, `read_only`, `allow_unconfined`, `limits`, `timeouts` (README § plugins.yaml). */
  readonly more: JsonObject;
}

/** What reading an entry gives; every fault at once, one sentence with the key each. */
export type ProcessEntryReading =
  | { readonly ok: true; readonly plugin: SupervisedPlugin }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Where the folders of an entry lie. */
export interface ProcessEntryPlaces {
  /** What `dir` and other paths are relative to: the folder of plugins.yaml, say. Absolute. */
  readonly base: string;
  /** Holds a data folder for each plugin, under its name. Absolute. */
  readonly data: string;
}

/** A name that may be that of a folder, and of a tool's prefix. */
const plainName = /^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,62}$/u;
const digestForm = /^tree-v1:[0-9a-f]{64}$/u;
/** A number of an entry: how those who use it call it, and its range. */
interface NumberKey<Name extends string> {
  readonly name: Name;
  readonly least: number;
  readonly most: number;
  /** Else it is a whole number. */
  readonly isFraction?: true;
}
/** Keys of `limits`, in the spelling of plugins.yaml. */
const limitKeys: Readonly<Record<string, NumberKey<keyof ConfinementLimits>>> = {
  memory_bytes: { name: "memoryBytes", ...limitRanges.memoryBytes },
  processes: { name: "processes", ...limitRanges.processes },
  cpus: { name: "cpus", ...limitRanges.cpus, isFraction: true },
  cpu_seconds: { name: "cpuSeconds", ...limitRanges.cpuSeconds },
  file_bytes: { name: "fileBytes", ...limitRanges.fileBytes },
  open_files: { name: "openFiles", ...limitRanges.openFiles },
  disk_bytes: { name: "diskBytes", ...limitRanges.diskBytes },
  output_bytes: { name: "outputBytes", ...limitRanges.outputBytes },
};
/** Keys of `timeouts`. */
const timeoutKeys: Readonly<Record<string, NumberKey<"callMs" | "startMs">>> = {
  call_ms: { name: "callMs", least: 1, most: 3_600_000 },
  start_ms: { name: "startMs", least: 1, most: 3_600_000 },
};
const known = ["dir", "digest", "interpreters", "read_only", "allow_unconfined", "limits", "timeouts"];

/** Reads an entry of the kind `process`. Whether the folder is a good plugin is seen when it is started. */
export function readProcessEntry(entry: ProcessKindEntry, { base, data }: ProcessEntryPlaces): ProcessEntryReading {
  const { name, config, more } = entry;
  const problems = Object.keys(more)
    .filter((key) => !known.includes(key))
    .map((key) => `${key} is no key of a plugin of the kind process; there are ${known.join(", ")}`);
  const say = (problem: string): void => void problems.push(problem);
  if (!plainName.test(name) || name.endsWith("_"))
    say(
      "name: of the kind process it has 1 to 63 letters, digits, dashes and single underscores, and begins with a letter or digit",
    );
  if (config !== undefined)
    say("config is not taken by the kind process: what a plugin needs stands in its plugin.json");
  const dir = more["dir"];
  if (dir === undefined) say("dir is missing: the path of the plugin's folder");
  else if (typeof dir !== "string" || dir === "") say("dir is not the path of the plugin's folder");
  const digest = more["digest"];
  if (digest !== undefined && (typeof digest !== "string" || !digestForm.test(digest)))
    say("digest is not tree-v1: and 64 hexadecimal digits, as `check` prints it");
  const allowUnconfined = more["allow_unconfined"];
  if (allowUnconfined !== undefined && typeof allowUnconfined !== "boolean")
    say("allow_unconfined is neither true nor false");
  const interpreters = readPaths(more["interpreters"], base, "interpreters", say);
  const readOnly = readPaths(more["read_only"], base, "read_only", say);
  const confinement = readNumbers("limits", more["limits"], limitKeys, say);
  const { callMs, startMs } = readNumbers("timeouts", more["timeouts"], timeoutKeys, say) ?? {};
  if (problems.length > 0 || typeof dir !== "string") return { ok: false, problems };
  return {
    ok: true,
    plugin: {
      name,
      folder: resolve(base, dir),
      dataFolder: join(data, name),
      digest: typeof digest === "string" ? digest : undefined,
      interpreters,
      readOnly,
      allowUnconfined: allowUnconfined === true,
      // Whoever waits for a plugin to start waits for its answers to both.
      timeouts: more["timeouts"] === undefined ? undefined : { callMs, createMs: startMs, startMs },
      limits: confinement === undefined ? undefined : { confinement },
    },
  };
}

function readPaths(
  given: JsonValue | undefined,
  base: string,
  key: string,
  say: (problem: string) => void,
): readonly string[] | undefined {
  if (given === undefined) return undefined;
  if (Array.isArray(given) && given.every((path) => typeof path === "string" && path !== ""))
    return given.map((path) => resolve(base, String(path)));
  say(`${key} is not a list of paths`);
  return undefined;
}

function readNumbers<Name extends string>(
  group: string,
  given: JsonValue | undefined,
  keys: Readonly<Record<string, NumberKey<Name>>>,
  say: (problem: string) => void,
): { readonly [name in Name]?: number } | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    say(`${group} is no mapping`);
    return undefined;
  }
  const numbers: { [name in Name]?: number } = {};
  for (const [key, value] of Object.entries(given)) {
    const known = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (known === undefined)
      say(`${group}.${key} is no ${group.slice(0, -1)}; there are ${Object.keys(keys).join(", ")}`);
    else if (typeof value !== "number" || !isWithin(value, known)) say(`${group}.${key} is not ${rangeOf(known)}`);
    else numbers[known.name] = value;
  }
  return numbers;
}

function isWithin(value: number, { least, most, isFraction }: NumberKey<string>): boolean {
  return (isFraction === true || Number.isInteger(value)) && value >= least && value <= most;
}

function rangeOf({ least, most, isFraction }: NumberKey<string>): string {
  return `a ${isFraction === true ? "" : "whole "}number from ${least} to ${most}`;
}
