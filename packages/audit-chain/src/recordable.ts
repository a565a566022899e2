import type { JsonValue } from "./json-value.js";
import { sha256Hex } from "./sha256.js";

/** Longest text of a member, in UTF-16 units. At six bytes each, an entry of ten such texts stays under 65,535 bytes. */
const maxText = 1_024;
/** What is kept of a longer one, before its digest. */
const keptText = 900;
/** Longest list of a member, in UTF-16 units of all its texts. */
const maxList = 4_096;

type Members = Readonly<Record<string, JsonValue | undefined>>;

/**
 * An entry that a chain takes, whatever names others chose for what it tells: one that the chain refused would be a step without
 * an entry. Lone surrogates become `\udXXX`, as JSON writes them; of a text over 1,024 UTF-16 units the first 900 are kept, and
 * `sha256:HEX` of the whole is added; a list ends once its texts have 4,096 units, and its last item says how many are left out.
 * Members that are objects, and lists in lists, stay as they are. An entry without such texts or lists is returned itself.
 */
export function recordable<T extends Members>(entry: T): T | Members {
  for (const name in entry) {
    if (!isRecordable(entry[name])) return recordableMembers(entry);
  }
  return entry;
}

function isRecordable(value: JsonValue | undefined): boolean {
  return typeof value === "string" ? isRecordableText(value) : !Array.isArray(value);
}

/** Lone surrogates are halves of pairs, which JSON can carry and UTF-8 cannot. */
function isRecordableText(text: string): boolean {
  return text.length <= maxText && text.isWellFormed();
}

function recordableMembers(entry: Members): Members {
  return Object.fromEntries(Object.entries(entry).map(([name, value]) => [name, recordableValue(value)]));
}

function recordableValue(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === "string") return recordableText(value);
  return Array.isArray(value) ? recordableList(value) : value;
}

function recordableText(text: string): string {
  if (isRecordableText(text)) return text;
  const whole = escaped(text);
  if (whole.length <= maxText) return whole;
  return `${escaped(whole.slice(0, keptText))}… sha256:${sha256Hex(whole)}`;
}

function escaped(text: string): string {
  return text.replace(/\p{Cs}/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

function recordableList(list: readonly JsonValue[]): JsonValue[] {
  const kept: JsonValue[] = [];
  let length = 0;
  for (const item of list) {
    const entry = typeof item === "string" ? recordableText(item) : item;
    length += typeof entry === "string" ? entry.length : 0;
    if (length > maxList) return [...kept, `… and ${list.length - kept.length} more`];
    kept.push(entry);
  }
  return kept;
}
