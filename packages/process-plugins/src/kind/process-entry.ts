import { join, resolve } from "node:path";
import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import type { ConfinementLimits } from "@berth/process-confinement";
import type { SupervisedPlugin } from "../supervisor/supervisor.js";

/** What a process plugin needs of its entry in plugins.yaml: `{name, kind: process, dir, …}`. */
export interface ProcessKindEntry {
  readonly name: string;
  readonly hooks: readonly string[];
  readonly config: JsonObject | undefined;
  /** Other keys of the entry: `dir`, `digest`, `interpreters`, `read_only`, `allow_unconfined`, `limits` (README § plugins.yaml). */
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
/** Keys of `limits`, in the spelling of plugins.yaml. */
const limitKeys = {
  memory_bytes: "memoryBytes",
  processes: "processes",
  cpus: "cpus",
  cpu_seconds: "cpuSeconds",
  file_bytes: "fileBytes",
  open_files: "openFiles",
  disk_bytes: "diskBytes",
  output_bytes: "outputBytes",
} as const satisfies Readonly<Record<string, keyof ConfinementLimits>>;
const known = ["dir", "digest", "interpreters", "read_only", "allow_unconfined", "limits"];

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
  if (typeof dir !== "string" || dir === "") say("dir is not the path of the plugin's folder");
  const digest = more["digest"];
  if (digest !== undefined && (typeof digest !== "string" || !digestForm.test(digest)))
    say("digest is not tree-v1: and 64 hexadecimal digits, as `check` prints it");
  const allowUnconfined = more["allow_unconfined"];
  if (allowUnconfined !== undefined && typeof allowUnconfined !== "boolean")
    say("allow_unconfined is neither true nor false");
  const interpreters = readPaths(more["interpreters"], base, "interpreters", say);
  const readOnly = readPaths(more["read_only"], base, "read_only", say);
  const confinement = readLimits(more["limits"], say);
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

/** Ranges are checked by who holds the limits. */
function readLimits(given: JsonValue | undefined, say: (problem: string) => void): ConfinementLimits | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    say("limits is no mapping");
    return undefined;
  }
  const limits: { -readonly [Name in keyof ConfinementLimits]: number } = {};
  for (const [key, value] of Object.entries(given)) {
    const name = isLimit(key) ? limitKeys[key] : undefined;
    if (name === undefined) say(`limits.${key} is no limit; there are ${Object.keys(limitKeys).join(", ")}`);
    else if (typeof value !== "number") say(`limits.${key} is no number`);
    else limits[name] = value;
  }
  return limits;
}

function isLimit(key: string): key is keyof typeof limitKeys {
  return Object.hasOwn(limitKeys, key);
}
