import type { ZodError } from "zod";
import { isPlainRecord } from "../bounded-json.js";
import type { PluginEntry, PluginSettings, PluginsConfig } from "../plugin-config.js";
import { findFaultsOfMeaning, findOddities } from "./oddities.js";
import { type Complaints, makeEntry } from "./plugin-entry.js";
import { type PluginsFile, pluginsSchema, type SettingsOfFile } from "./plugins-schema.js";
import { configError } from "./registered-kinds.js";
import { readYamlText, type YamlFault, type YamlPath, type YamlText } from "./yaml-text.js";

const MAX_FAULTS = 100;

/** How a plugins.yaml is read. */
export interface ReadPluginsOptions {
  /** Named in errors. */
  readonly file?: string | undefined;
  /** Keys beside `config` that kinds of this host read, and that are no misspellings. Default `dir`. */
  readonly entryKeys?: readonly string[] | undefined;
}

/**
 * Reads a plugins.yaml (CPEX fact sheet § 8). Null counts as absent; an empty text has no plugins. Kinds are not known
 * here: createPluginHost finds them.
 * @throws {PluginHostError} `CONFIG_INVALID`, with every fault and its line in `faults`, at most 100.
 */
export async function readPluginsConfig(text: string, options: ReadPluginsOptions = {}): Promise<PluginsConfig> {
  const { file, entryKeys = ["dir"] } = options;
  const reading = await readYamlText(text);
  if (!reading.ok) throw configError("CONFIG_INVALID", file, reading.faults.slice(0, MAX_FAULTS).map(sentence));
  const yaml = reading.text;
  const notes = createNotes(yaml);
  const checked = await check(yaml.value ?? {}, notes);
  if (isPlainRecord(yaml.value)) {
    findFaultsOfMeaning(yaml.value, notes, yaml.lineOf);
    findOddities(yaml.value, entryKeys, notes);
  }
  if (text.includes("{{")) notes.warn([], "{{ … }} is not filled in here: it stays as it is written");
  const plugins = checked === undefined ? [] : makeEntries(checked, yaml, notes);
  const faults = notes.faults();
  if (checked === undefined || faults.length > 0) throw configError("CONFIG_INVALID", file, faults);
  return Object.freeze({
    plugins,
    file,
    settings: makeSettings(checked.plugin_settings),
    warnings: notes.warnings(),
  });
}

function makeEntries(file: PluginsFile, yaml: YamlText, notes: Notes): readonly PluginEntry[] {
  return Object.freeze(
    file.plugins.map((entry, at) => {
      const path = ["plugins", at];
      return makeEntry(entry, path, yaml.lineOf(path), notes);
    }),
  );
}

function makeSettings(settings: SettingsOfFile): PluginSettings {
  return Object.freeze({
    pluginTimeoutMs: Math.max(1, Math.round(settings.plugin_timeout * 1_000)),
    shortCircuitOnDeny: settings.short_circuit_on_deny,
    parallelWithinBand: settings.parallel_execution_within_band,
    failOnPluginError: settings.fail_on_plugin_error,
  });
}

/** zod is loaded here, on first use. */
async function check(value: unknown, notes: Notes): Promise<PluginsFile | undefined> {
  const { z } = await import("zod");
  const checked = pluginsSchema(z).safeParse(value);
  if (checked.success) return checked.data;
  for (const issue of issuesOf(checked.error)) {
    notes.fault(issue.path, `${issue.path.map(String).join(".") || "the document"}: ${issue.message}`);
  }
  return undefined;
}

function issuesOf({ issues }: ZodError): readonly { readonly path: YamlPath; readonly message: string }[] {
  return issues.map(({ path, message }) => ({ path, message }));
}

interface Notes extends Complaints {
  faults(): readonly string[];
  warnings(): readonly string[];
}

function createNotes(yaml: YamlText): Notes {
  const faults: YamlFault[] = [];
  const warnings: YamlFault[] = [];
  const add = (list: YamlFault[], path: YamlPath, message: string): void => {
    if (list.length < MAX_FAULTS) list.push({ line: yaml.lineOf(path), message });
  };
  const told = (list: readonly YamlFault[]): readonly string[] =>
    Object.freeze([...list].sort((one, other) => one.line - other.line).map(sentence));
  return {
    warn: (path, message) => add(warnings, path, message),
    fault: (path, message) => add(faults, path, message),
    faults: () => told(faults),
    warnings: () => told(warnings),
  };
}

function sentence({ line, message }: YamlFault): string {
  return `line ${line}: ${message}`;
}
