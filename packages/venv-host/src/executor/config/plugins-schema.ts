import type { z as Zod } from "zod";

/** What a plugins.yaml may say, as it is written there. Null is absent everywhere. */
export interface PluginsFile {
  readonly plugins: readonly EntryOfFile[];
  readonly plugin_settings: SettingsOfFile;
}

/** An entry of `plugins`. */
export interface EntryOfFile {
  readonly name: string;
  readonly kind: string;
  readonly description?: string | undefined;
  readonly author?: string | undefined;
  readonly version?: string | undefined;
  readonly hooks: readonly string[];
  readonly mode: ModeOfFile;
  readonly priority: number;
  readonly on_error?: "fail" | "ignore" | "disable" | undefined;
  readonly capabilities: readonly string[];
  readonly tags: readonly string[];
  readonly conditions: readonly ConditionOfFile[];
  readonly config?: Readonly<Record<string, unknown>> | undefined;
}

/** A condition of an entry. */
export type ConditionOfFile = Readonly<Partial<Record<(typeof CONDITION_KEYS)[number], readonly string[] | undefined>>>;

/** `plugin_settings`. */
export interface SettingsOfFile {
  readonly routing_enabled: boolean;
  readonly plugin_timeout: number;
  readonly short_circuit_on_deny: boolean;
  readonly parallel_execution_within_band: boolean;
  readonly fail_on_plugin_error: boolean;
  readonly route_cache_max_entries: number;
}

/** A mode, as today or as earlier frameworks called it. */
export type ModeOfFile = (typeof MODES)[number] | (typeof LEGACY_MODES)[number];

const MODES = ["sequential", "transform", "audit", "concurrent", "fire_and_forget", "disabled"] as const;
const LEGACY_MODES = ["enforce", "enforce_ignore_error", "permissive"] as const;

/** Keys of a condition. */
export const CONDITION_KEYS = [
  "server_ids",
  "tenant_ids",
  "tools",
  "prompts",
  "resources",
  "agents",
  "user_patterns",
  "content_types",
] as const;

const MAX_PLUGINS = 1_000;
const MAX_NAMES = 1_000;
const MAX_NAME_CHARS = 1_000;

/** The schema; zod is the caller's to load, on first use. */
export function pluginsSchema(z: typeof Zod): Zod.ZodType<PluginsFile> {
  const settings = settingsSchema(z);
  return z.looseObject({
    plugins: filled(z, z.array(entrySchema(z)).max(MAX_PLUGINS), []),
    plugin_settings: z.preprocess((value) => value ?? {}, settings),
  });
}

function entrySchema(z: typeof Zod): Zod.ZodType<EntryOfFile> {
  const text = z.string().max(MAX_NAME_CHARS);
  const names = z.array(text.min(1)).max(MAX_NAMES);
  return z.looseObject({
    name: text.min(1).max(200),
    kind: text.min(1),
    description: absent(z, z.string().max(10_000)),
    author: absent(z, text),
    // A version that looks like a number is one in YAML.
    version: z.preprocess((value) => (typeof value === "number" ? String(value) : value), absent(z, text)),
    hooks: filled(z, names, []),
    mode: filled(z, z.enum([...MODES, ...LEGACY_MODES]), "sequential"),
    priority: filled(z, z.int(), 100),
    on_error: absent(z, z.enum(["fail", "ignore", "disable"])),
    capabilities: filled(z, names, []),
    tags: filled(z, names, []),
    conditions: filled(z, z.array(conditionSchema(z, names)).max(MAX_NAMES), []),
    config: absent(z, z.custom<Readonly<Record<string, unknown>>>(isMapping, "Invalid input: expected a mapping")),
  });
}

function conditionSchema(z: typeof Zod, names: Zod.ZodType<string[]>): Zod.ZodType<ConditionOfFile> {
  return z.looseObject({
    server_ids: absent(z, names),
    tenant_ids: absent(z, names),
    tools: absent(z, names),
    prompts: absent(z, names),
    resources: absent(z, names),
    agents: absent(z, names),
    user_patterns: absent(z, names),
    content_types: absent(z, names),
  });
}

function settingsSchema(z: typeof Zod): Zod.ZodType<SettingsOfFile> {
  return z.looseObject({
    routing_enabled: filled(z, z.boolean(), false),
    plugin_timeout: filled(z, z.number().min(0.001).max(600), 30),
    short_circuit_on_deny: filled(z, z.boolean(), true),
    parallel_execution_within_band: filled(z, z.boolean(), false),
    fail_on_plugin_error: filled(z, z.boolean(), false),
    route_cache_max_entries: filled(z, z.int().min(0), 10_000),
  });
}

/** Absent or null: undefined. */
function absent<T>(z: typeof Zod, schema: Zod.ZodType<T>): Zod.ZodType<T | undefined> {
  return z.preprocess((value) => value ?? undefined, schema.optional());
}

/** Absent or null: the default. */
function filled<T>(z: typeof Zod, schema: Zod.ZodType<T>, value: T): Zod.ZodType<T> {
  return z.preprocess((given) => given ?? value, schema);
}

function isMapping(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
