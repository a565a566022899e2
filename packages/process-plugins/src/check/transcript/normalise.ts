import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { canonicalText, type JsonWriters, plainWriters } from "./canonical-text.js";

/** What differs from run to run and from machine to machine. What a run does not have is undefined. */
export interface VolatileValues {
  /** Absolute paths, as the plugin sees them. */
  readonly PLUGIN_ROOT?: string | undefined;
  readonly DATA?: string | undefined;
  readonly TMP?: string | undefined;
  readonly SECRETS?: string | undefined;
  readonly OTHER?: string | undefined;
  readonly INSTANCE?: string | undefined;
  readonly PORT?: number | undefined;
}

/**
 * Writes a message as a transcript holds it: canonical, with placeholders for what is volatile. A text that literally holds
 * `<DATA>` is written `<=DATA>`, and `<=DATA>` is written `<==DATA>`, so that no plugin can say a placeholder: but for `<VERSION>`,
 * two messages are written alike only when they are alike. A port is `"<PORT>"` as a number, and `<PORT:text>` in a text.
 */
export type Normalise = (message: JsonObject) => string;

const names = "PLUGIN_ROOT|DATA|TMP|SECRETS|OTHER|INSTANCE|PORT:text|PORT|VERSION";
const literal = `<=*(?:${names})>`;
const serverInfoKey = "io.modelcontextprotocol/serverInfo";

/** @param plugin Its name: the version of a `serverInfo` that names something else, a library, becomes `<VERSION>`. */
export function createNormalise(values: VolatileValues, plugin: string): Normalise {
  const replaced = createReplacer(values);
  const writers: JsonWriters = {
    string: (text) => JSON.stringify(replaced(text)),
    number: (value) => (value === values.PORT ? '"<PORT>"' : plainWriters.number(value)),
    member: (key, value) => (key === serverInfoKey && isLibrary(value, plugin) ? ofLibrary(value) : undefined),
  };
  const ofLibrary = (value: JsonValue): string =>
    canonicalText(value, { ...writers, member: (key) => (key === "version" ? '"<VERSION>"' : undefined) });
  return (message) => canonicalText(message, writers);
}

/** One pass from left to right, the longest value first: what was replaced is not looked at again. */
function createReplacer(values: VolatileValues): (text: string) => string {
  const { PORT, ...texts } = values;
  const tokens = new Map<string, string>();
  for (const [name, value] of Object.entries(texts)) if (value) tokens.set(value, `<${name}>`);
  if (PORT !== undefined) tokens.set(String(PORT), "<PORT:text>");
  const alternatives = [...tokens.keys()].sort((one, other) => other.length - one.length).map(patternOf);
  const pattern = new RegExp([literal, ...alternatives].join("|"), "g");
  return (text) => text.replace(pattern, (found) => tokens.get(found) ?? `<=${found.slice(1)}`);
}

/** Whole paths, names and numbers only: `/plugin-data` does not stand in `/plugin-database`. */
function patternOf(value: string): string {
  const escaped = value.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
  return `(?<![A-Za-z0-9_.-])${escaped}(?![A-Za-z0-9_-])`;
}

function isLibrary(value: JsonValue, plugin: string): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { name, version } = Object.fromEntries(Object.entries(value));
  return typeof name === "string" && name !== plugin && typeof version === "string";
}
