import { setMember } from "../bounded-json.js";
import type { JsonValue } from "../json.js";

/** Header names and values. */
export type HeaderMap = Readonly<Record<string, string>>;

/** Headers that no plugin sees in a header map, nor sets by one. */
const SENSITIVE_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  "x-api-key",
]);

const MAX_HEADERS = 1_000;
const MAX_NAME_CHARS = 200;
const MAX_VALUE_CHARS = 65_536;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u;
// A line feed in a value would begin a header of the plugin's choice where the map becomes a request.
const UNSAFE_VALUE = /[^\t -~\u0080-\u{10ffff}]/u;

/** Whether a header holds a credential, whatever its case. */
export function isSensitiveHeader(name: string): boolean {
  return SENSITIVE_HEADERS.has(name.trim().toLowerCase());
}

/** The headers that anybody may see. */
export function withoutSensitive(headers: HeaderMap): HeaderMap {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isSensitiveHeader(name)));
}

/** Headers, or what is wrong with them. */
export type HeaderReading =
  | { readonly ok: true; readonly headers: HeaderMap }
  | { readonly ok: false; readonly fault: string };

/**
 * Reads a header map that a plugin wrote. Absent and null are an empty one. Sensitive names are dropped, unless the hook's
 * own payload is headers.
 */
export function readHeaderMap(value: JsonValue | undefined, sensitive: "drop" | "keep" = "drop"): HeaderReading {
  if (value === undefined || value === null) return { ok: true, headers: {} };
  if (typeof value !== "object" || Array.isArray(value)) return { ok: false, fault: "is not a map of headers" };
  const entries = Object.entries(value);
  if (entries.length > MAX_HEADERS) return { ok: false, fault: `has more than ${MAX_HEADERS} headers` };
  const headers: Record<string, string> = {};
  for (const [name, text] of entries) {
    if (name.length > MAX_NAME_CHARS || !HEADER_NAME.test(name)) return { ok: false, fault: "has an illegal name" };
    if (typeof text !== "string") return { ok: false, fault: "has a value that is no text" };
    if (text.length > MAX_VALUE_CHARS || UNSAFE_VALUE.test(text)) return { ok: false, fault: "has an illegal value" };
    if (sensitive === "keep" || !isSensitiveHeader(name)) setMember(headers, name, text);
  }
  return { ok: true, headers };
}

/** What a plugin did to a header map: names in lower case. */
export interface HeaderChanges {
  readonly set: ReadonlyMap<string, { readonly name: string; readonly value: string }>;
  readonly removed: ReadonlySet<string>;
}

/** What differs between the map that a plugin was shown and the one that it sent back. */
export function headerChanges(shown: HeaderMap, returned: HeaderMap): HeaderChanges {
  const before = new Map(Object.entries(shown).map(([name, value]) => [name.toLowerCase(), value]));
  const after = new Map(Object.entries(returned).map(([name, value]) => [name.toLowerCase(), { name, value }]));
  return {
    set: new Map([...after].filter(([name, { value }]) => before.get(name) !== value)),
    removed: new Set([...before.keys()].filter((name) => !after.has(name))),
  };
}

/** The map with the changes; a header keeps the spelling that it had. The same map when nothing changes. */
export function applyHeaderChanges(headers: HeaderMap, { set, removed }: HeaderChanges): HeaderMap {
  const changed: Record<string, string> = {};
  const placed = new Set<string>();
  let differs = false;
  for (const [name, value] of Object.entries(headers)) {
    const key = name.toLowerCase();
    const isGone = removed.has(key) && !isSensitiveHeader(key);
    const next = set.get(key)?.value ?? value;
    placed.add(key);
    if (isGone || next !== value) differs = true;
    if (!isGone) setMember(changed, name, next);
  }
  for (const [key, { name, value }] of set) {
    if (placed.has(key)) continue;
    differs = true;
    setMember(changed, name, value);
  }
  return differs ? Object.freeze(changed) : headers;
}

/** The map with other headers over its own. */
export function overlayHeaders(headers: HeaderMap, added: HeaderMap): HeaderMap {
  return applyHeaderChanges(headers, { set: headerChanges({}, added).set, removed: new Set() });
}
