import { isAbsolute } from "node:path";
import type { JsonObject, JsonValue } from "../executor/json.js";
import type { PluginEntry } from "../executor/plugin-config.js";

/** The `config` block of an entry of this kind, with defaults filled in (CPEX fact sheet § 8). */
export interface VenvBlock {
  readonly className: string;
  readonly requirementsFile: string | undefined;
  /** Relative: inside site-packages. */
  readonly scriptPath: string;
  readonly maxContentBytes: number | undefined;
  readonly callTimeoutMs: number | undefined;
  readonly interpreter: string | undefined;
  readonly pool: number;
  readonly confine: ConfineBlock | undefined;
}

/** What a confined worker may do beside reading its environment and the plugins. */
export interface ConfineBlock {
  readonly network: "none" | "host";
  readonly readable: readonly string[];
  readonly writable: readonly string[];
}

/** A block, or what is wrong with it, each a sentence that names the key. */
export type BlockReading =
  | { readonly ok: true; readonly block: VenvBlock }
  | { readonly ok: false; readonly faults: readonly string[] };

const DEFAULT_SCRIPT = "cpex/framework/isolated/worker.py";
const CLASS_NAME = /^[\p{ID_Start}_][\p{ID_Continue}]*(\.[\p{ID_Start}_][\p{ID_Continue}]*)+$/u;
const MAX_TEXT_CHARS = 4_096;
const MAX_PATHS = 100;

/** Unknown keys are the plugin's own: its configuration is the same block. */
export function readBlock({ config, hooks, name }: PluginEntry): BlockReading {
  if (config === undefined)
    return { ok: false, faults: [`config: plugin ${name} has none, and class_name is required`] };
  const faults: string[] = [];
  const read = createReader(config, faults);
  const className = read.text("class_name");
  if (className === undefined) {
    if (config["class_name"] === undefined) faults.push(`config.class_name: plugin ${name} has none; it is required`);
  } else if (!CLASS_NAME.test(className.trim())) {
    faults.push("config.class_name must be a module and a class, such as my_plugin.filters.MyFilter");
  }
  if (hooks.length === 0) faults.push(`hooks: plugin ${name} has none, so nothing would ever call it`);
  const scriptPath = read.text("script_path") ?? DEFAULT_SCRIPT;
  if (!isAbsolute(scriptPath) && leaves(scriptPath))
    faults.push("config.script_path must not lead out of site-packages");
  const requirementsFile = read.text("requirements_file");
  if (requirementsFile !== undefined && !isAbsolute(requirementsFile) && leaves(requirementsFile)) {
    faults.push("config.requirements_file must not lead out of the plugin's folder; give an absolute path");
  }
  const block: VenvBlock = {
    className: className?.trim() ?? "",
    requirementsFile,
    scriptPath,
    maxContentBytes: read.number("max_content_size", { least: 1_024, most: 67_108_864, isWhole: true }),
    callTimeoutMs: toMs(read.number("timeout_secs", { least: 0.001, most: 600, isWhole: false })),
    interpreter: read.text("interpreter"),
    pool: read.number("pool", { least: 1, most: 64, isWhole: true }) ?? 1,
    confine: readConfine(config["confine"], faults),
  };
  return faults.length === 0 ? { ok: true, block } : { ok: false, faults };
}

/** By segments: a name that begins with two dots leads nowhere else. */
function leaves(path: string): boolean {
  return path.split(/[/\\]/u).includes("..");
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.ceil(seconds * 1_000);
}

interface NumberRange {
  readonly least: number;
  readonly most: number;
  readonly isWhole: boolean;
}

interface BlockReader {
  text(name: string): string | undefined;
  number(name: string, range: NumberRange): number | undefined;
}

function createReader(config: JsonObject, faults: string[]): BlockReader {
  const present = (name: string): JsonValue | undefined =>
    Object.hasOwn(config, name) ? (config[name] ?? undefined) : undefined;
  return {
    text: (name) => {
      const value = present(name);
      if (value === undefined || isText(value)) return value;
      faults.push(`config.${name} must be a text of 1 to ${MAX_TEXT_CHARS} characters`);
      return undefined;
    },
    number: (name, { least, most, isWhole }) => {
      const value = present(name);
      if (value === undefined) return undefined;
      const isGood = typeof value === "number" && value >= least && value <= most;
      if (isGood && (!isWhole || Number.isInteger(value))) return value;
      faults.push(`config.${name} must be a ${isWhole ? "whole " : ""}number from ${least} to ${most}`);
      return undefined;
    },
  };
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value.trim() !== "" && value.length <= MAX_TEXT_CHARS && !value.includes("\0");
}

function readConfine(value: JsonValue | undefined, faults: string[]): ConfineBlock | undefined {
  if (value === undefined || value === null || value === false) return undefined;
  if (value === true) return { network: "none", readable: [], writable: [] };
  if (!isObject(value)) {
    faults.push("config.confine must be true, false, or an object with network, readable and writable");
    return undefined;
  }
  const known = ["network", "readable", "writable"];
  // Here a misspelled key would open or close something that nobody meant.
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) faults.push(`config.confine has no ${name}; there are ${known.join(", ")}`);
  }
  const network = value["network"] ?? "none";
  if (network !== "none" && network !== "host") faults.push("config.confine.network must be none or host");
  return {
    network: network === "host" ? "host" : "none",
    readable: readPaths("readable", value["readable"], faults),
    writable: readPaths("writable", value["writable"], faults),
  };
}

function readPaths(name: string, value: JsonValue | undefined, faults: string[]): readonly string[] {
  if (value === undefined) return [];
  const paths: readonly JsonValue[] = Array.isArray(value) ? value : [];
  const good = paths.filter((path) => isText(path)).filter((path) => isAbsolute(path));
  const isGood = Array.isArray(value) && good.length === value.length && good.length <= MAX_PATHS;
  if (!isGood) faults.push(`config.confine.${name} must be a list of at most ${MAX_PATHS} absolute paths`);
  return good;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
