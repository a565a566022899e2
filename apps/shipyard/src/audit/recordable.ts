import { hash } from "node:crypto";
import type { JsonValue } from "@berth/audit-chain";

/** Longest text in an entry, in UTF-16 units. At six bytes each, the longest entry of ours stays under the chain's 65,535. */
const maxText = 1_024;
/** What is kept of a longer one, before its digest. */
const keptText = 900;
/** Longest list of texts in an entry, in UTF-16 units of all of them. */
const maxList = 4_096;

type Members = Readonly<Record<string, JsonValue | undefined>>;

/**
 * An entry that the log takes. Clients and servers choose names, and one that the log refused would be a call or a difference
 * without an entry. So lone surrogates are written as `\udXXX`, as JSON does, and a long text is cut and its SHA-256 added.
 * An entry without such texts is returned as it is.
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
  return `${escaped(whole.slice(0, keptText))}… sha256:${hash("sha256", whole, "hex")}`;
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
