import type { JsonObject } from "./json.js";

/** When a plugin runs, and what it may do (CPEX fact sheet § 3). */
export type PluginMode = "sequential" | "transform" | "audit" | "concurrent" | "fire_and_forget" | "disabled";
/** What an error of a plugin means. */
export type OnError = "fail" | "ignore" | "disable";

/** When a plugin is asked at all. A condition holds when each list that it has names the request's value. */
export interface PluginCondition {
  readonly serverIds?: readonly string[] | undefined;
  readonly tenantIds?: readonly string[] | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly prompts?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly agents?: readonly string[] | undefined;
  readonly userPatterns?: readonly string[] | undefined;
  readonly contentTypes?: readonly string[] | undefined;
}

/** One plugin of plugins.yaml, with defaults filled in. */
export interface PluginEntry {
  /** Unique in its file. */
  readonly name: string;
  readonly kind: string;
  readonly hooks: readonly string[];
  readonly mode: PluginMode;
  /** Lower first. Default 100. */
  readonly priority: number;
  readonly onError: OnError;
  readonly capabilities: readonly string[];
  readonly conditions: readonly PluginCondition[];
  readonly description: string | undefined;
  readonly author: string | undefined;
  readonly version: string | undefined;
  readonly tags: readonly string[];
  /** The kind's own block, as it stands in the file. */
  readonly config: JsonObject | undefined;
  /** Other keys of the entry, for kinds that are configured beside `config`, such as `dir`. */
  readonly more: JsonObject;
  /** Where it begins in its file; undefined when it was not read from one. */
  readonly line?: number | undefined;
}

/** A plugins.yaml, read and checked. */
export interface PluginsConfig {
  readonly plugins: readonly PluginEntry[];
  /** Names the file in errors. */
  readonly file?: string | undefined;
  readonly settings: PluginSettings;
  /** What was odd and is no error: unknown keys, `plugin_dirs`; one sentence with its line each. */
  readonly warnings: readonly string[];
}

/** `plugin_settings`. */
export interface PluginSettings {
  /** For one plugin's hook, 1 to 600_000 milliseconds. Default 30_000. */
  readonly pluginTimeoutMs: number;
  /** The first deny of a concurrent plugin ends the others' calls. Default true. */
  readonly shortCircuitOnDeny: boolean;
  /** Audit plugins of one priority run beside each other. Default false. */
  readonly parallelWithinBand: boolean;
  /** `start` rejects with the first fault, and `on_error: fail` denies in every foreground phase. Default false. */
  readonly failOnPluginError: boolean;
}
