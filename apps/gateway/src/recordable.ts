import { hash } from "node:crypto";
import type { JsonValue } from "@berth/audit-chain";

/** Longest text in an entry, in UTF-16 units. At six bytes each, the longest entry of ours stays under the chain's 65,535. */
const maxText = 1_024;
/** What is kept of a longer one, before its digest. */
const keptText = 900;
/** Longest list of texts in an entry, in UTF-16 units of all of them. */
const maxList = 4_096;
/** Half of a pair, which JSON can carry and UTF-8 cannot. With the u flag, whole pairs are not meant. */
const loneSurrogate = /\p{Cs}/u;

/**
 * A value that the log takes. Clients and servers choose names, and one that the log refused would be a call or a difference
 * without an entry. So lone surrogates are written as `\udXXX`, as JSON does, and a long text is cut and its SHA-256 added.
 * All else is the value itself.
 */
export function recordable(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === "string") return recordableText(value);
  return Array.isArray(value) ? recordableList(value) : value;
}

function recordableText(text: string): string {
  if (text.length <= maxText && !loneSurrogate.test(text)) return text;
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
