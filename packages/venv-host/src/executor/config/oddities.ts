import { isPlainRecord } from "../bounded-json.js";
import { type Complaints, ENTRY_KEYS } from "./plugin-entry.js";
import { CONDITION_KEYS } from "./plugins-schema.js";
import type { YamlPath } from "./yaml-text.js";

type Warn = Complaints["warn"];
type Members = Readonly<Record<string, unknown>>;

/** Read by other hosts of these files, and by nobody here. */
const TOP_KEYS = ["plugins", "plugin_settings"];
const ROUTING_KEYS = ["global", "groups", "routes"];
const OTHER_HOSTS_KEYS = ["server_settings", "grpc_server_settings", "unix_socket_server_settings"];
const OTHER_HOSTS_ENTRY_KEYS = ["namespace", "applied_to", "max_content_size", "mcp", "grpc", "unix_socket"];
const SETTING_KEYS = [
  "routing_enabled",
  "plugin_timeout",
  "short_circuit_on_deny",
  "parallel_execution_within_band",
  "fail_on_plugin_error",
  "route_cache_max_entries",
];

/** Faults that no single value shows; found in what was written, so that they are told together with all others. */
export function findFaultsOfMeaning(file: Members, { fault }: Complaints, lineOf: (path: YamlPath) => number): void {
  const settings = file["plugin_settings"];
  if (isPlainRecord(settings) && settings["routing_enabled"] === true) {
    // With routes ignored, plugins that a route asks for would not run.
    fault(["plugin_settings", "routing_enabled"], "routing is not supported; give plugins conditions instead");
  }
  const places = new Map<string, number>();
  const plugins = file["plugins"];
  for (const [at, entry] of Array.isArray(plugins) ? plugins.entries() : []) {
    const name: unknown = isPlainRecord(entry) ? entry["name"] : undefined;
    if (typeof name !== "string") continue;
    const earlier = places.get(name);
    if (earlier === undefined) places.set(name, lineOf(["plugins", at]));
    else fault(["plugins", at, "name"], `name ${name} is that of the plugin in line ${earlier}`);
  }
}

/** Warns of keys that nobody reads: the framework ignores them too, so they are no faults (CPEX fact sheet § 8). */
export function findOddities(file: Members, entryKeys: readonly string[], notes: Complaints): void {
  const { warn } = notes;
  for (const key of Object.keys(file)) {
    if (TOP_KEYS.includes(key)) continue;
    warn([key], oddityOfTop(key));
  }
  findUnknown(file["plugin_settings"], ["plugin_settings"], SETTING_KEYS, warn);
  const plugins = file["plugins"];
  if (!Array.isArray(plugins)) return;
  for (const [at, entry] of plugins.entries()) findInEntry(entry, ["plugins", at], entryKeys, warn);
}

function oddityOfTop(key: string): string {
  if (key === "plugin_dirs") return ignoredDirs(key);
  if (ROUTING_KEYS.includes(key)) return `${key} is ignored, as routing is not enabled`;
  if (OTHER_HOSTS_KEYS.includes(key)) return `${key} is of another host, and ignored`;
  return `${key} is an unknown key`;
}

function findInEntry(entry: unknown, path: YamlPath, entryKeys: readonly string[], warn: Warn): void {
  if (!isPlainRecord(entry)) return;
  for (const key of Object.keys(entry)) {
    if (ENTRY_KEYS.includes(key) || entryKeys.includes(key) || OTHER_HOSTS_ENTRY_KEYS.includes(key)) continue;
    const name = `${path.map(String).join(".")}.${key}`;
    warn([...path, key], key === "plugin_dirs" ? ignoredDirs(name) : `${name} is an unknown key`);
  }
  const { config, conditions } = entry;
  if (isPlainRecord(config) && Object.hasOwn(config, "plugin_dirs")) {
    warn([...path, "config", "plugin_dirs"], ignoredDirs(`${path.map(String).join(".")}.config.plugin_dirs`));
  }
  if (!Array.isArray(conditions)) return;
  for (const [at, one] of conditions.entries()) findUnknown(one, [...path, "conditions", at], CONDITION_KEYS, warn);
}

function ignoredDirs(name: string): string {
  return `${name} is ignored: the code of plugins is found in <cwd>/plugins, or in their environments`;
}

function findUnknown(members: unknown, path: YamlPath, known: readonly string[], warn: Warn): void {
  if (!isPlainRecord(members)) return;
  for (const key of Object.keys(members).filter((name) => !known.includes(name))) {
    warn([...path, key], `${path.map(String).join(".")}.${key} is an unknown key`);
  }
}
