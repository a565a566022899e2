import { copyJsonObject, type JsonBounds } from "../bounded-json.js";
import { knownCapabilities } from "../extensions/capabilities.js";
import type { JsonObject } from "../json.js";
import type { OnError, PluginCondition, PluginEntry, PluginMode } from "../plugin-config.js";
import type { ConditionOfFile, EntryOfFile, ModeOfFile } from "./plugins-schema.js";
import type { YamlPath } from "./yaml-text.js";

/** Takes what is odd, or wrong, with its place. */
export interface Complaints {
  warn(path: YamlPath, message: string): void;
  fault(path: YamlPath, message: string): void;
}

const ENTRY_BOUNDS: JsonBounds = { maxDepth: 64, maxValues: 100_000, maxTextChars: 1_048_576 };

/** Keys that an entry has beside its kind's own. */
export const ENTRY_KEYS: readonly string[] = [
  "name",
  "kind",
  "description",
  "author",
  "version",
  "hooks",
  "mode",
  "priority",
  "on_error",
  "capabilities",
  "tags",
  "conditions",
  "config",
];

/** Names of before, and what they mean now. */
const LEGACY_MODES: ReadonlyMap<ModeOfFile, { readonly mode: PluginMode; readonly onError?: OnError }> = new Map([
  ["enforce", { mode: "sequential" }],
  ["enforce_ignore_error", { mode: "sequential", onError: "ignore" }],
  ["permissive", { mode: "transform" }],
]);

/** An entry in the form that the host takes. */
export function makeEntry(file: EntryOfFile, path: YamlPath, line: number, complaints: Complaints): PluginEntry {
  const { kind, config } = makeKind(file, path, complaints);
  return Object.freeze({
    name: file.name,
    kind,
    hooks: makeHooks(file, path, complaints),
    ...makeMode(file, path, complaints),
    priority: file.priority,
    capabilities: makeCapabilities(file, path, complaints),
    conditions: Object.freeze(file.conditions.map(makeCondition)),
    description: file.description,
    author: file.author,
    version: file.version,
    tags: Object.freeze([...file.tags]),
    config,
    more: copyBlock(others(file), path, complaints) ?? {},
    line,
  });
}

/** A mode of before is rewritten; an `on_error` that is written beside it counts. */
function makeMode(file: EntryOfFile, path: YamlPath, { warn }: Complaints): Pick<PluginEntry, "mode" | "onError"> {
  const legacy = LEGACY_MODES.get(file.mode);
  if (legacy !== undefined) {
    warn([...path, "mode"], `mode ${file.mode} of earlier frameworks is taken as ${legacy.mode}`);
    return { mode: legacy.mode, onError: file.on_error ?? legacy.onError ?? "fail" };
  }
  return { mode: modeOf(file.mode), onError: file.on_error ?? "fail" };
}

function modeOf(mode: ModeOfFile): PluginMode {
  if (mode === "enforce" || mode === "enforce_ignore_error" || mode === "permissive") return "sequential";
  return mode;
}

/** A class path as kind is what the framework's installer makes an isolated_venv plugin of. */
function makeKind(
  file: EntryOfFile,
  path: YamlPath,
  complaints: Complaints,
): { readonly kind: string; readonly config: JsonObject | undefined } {
  const kind = file.kind.trim();
  const config = copyBlock(file.config, [...path, "config"], complaints);
  if (!isClassPath(kind)) return { kind, config };
  complaints.warn([...path, "kind"], `kind ${kind} is a class path; it is taken as class_name of kind isolated_venv`);
  const named = config?.["class_name"] ?? kind;
  return { kind: "isolated_venv", config: Object.freeze({ ...config, class_name: named }) };
}

/** Two or more Python identifiers; the last begins with an upper case letter. */
function isClassPath(kind: string): boolean {
  const segments = kind.split(".");
  const isIdentifier = (segment: string): boolean => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(segment);
  return segments.length > 1 && segments.every(isIdentifier) && /^\p{Lu}/u.test(segments.at(-1) ?? "");
}

function makeHooks(file: EntryOfFile, path: YamlPath, { warn }: Complaints): readonly string[] {
  const hooks = [...new Set(file.hooks)];
  if (hooks.length < file.hooks.length) warn([...path, "hooks"], "a hook is listed twice; it runs once");
  if (hooks.length === 0)
    warn([...path, "hooks"], `plugin ${file.name} names no hooks: it runs only if its kind knows them`);
  return Object.freeze(hooks);
}

function makeCapabilities(file: EntryOfFile, path: YamlPath, { warn }: Complaints): readonly string[] {
  file.capabilities.forEach((name, at) => {
    if (!knownCapabilities.has(name))
      warn([...path, "capabilities", at], `capability ${name} is unknown and opens nothing`);
  });
  return Object.freeze([...new Set(file.capabilities)].filter((name) => knownCapabilities.has(name)));
}

function makeCondition(file: ConditionOfFile): PluginCondition {
  return Object.freeze({
    serverIds: file.server_ids,
    tenantIds: file.tenant_ids,
    tools: file.tools,
    prompts: file.prompts,
    resources: file.resources,
    agents: file.agents,
    userPatterns: file.user_patterns,
    contentTypes: file.content_types,
  });
}

function others(file: EntryOfFile): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(file).filter(([key]) => !ENTRY_KEYS.includes(key)));
}

function copyBlock(
  block: Readonly<Record<string, unknown>> | undefined,
  path: YamlPath,
  { fault }: Complaints,
): JsonObject | undefined {
  if (block === undefined) return undefined;
  try {
    return copyJsonObject(block, { bounds: ENTRY_BOUNDS, refuse: (text) => new Error(text) });
  } catch (error) {
    fault(path, error instanceof Error ? `it ${error.message}` : "it cannot be read");
    return undefined;
  }
}
