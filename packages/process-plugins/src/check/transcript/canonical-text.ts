import type { JsonValue } from "@berth/jsonrpc-framing";

/** How parts of a value are written. Each gives JSON. */
export interface JsonWriters {
  /** A text, or a key. */
  string(text: string): string;
  number(value: number): string;
  /** A member that is not written as others are. */
  member?(key: string, value: JsonValue): string | undefined;
}

/** What JSON itself writes. */
export const plainWriters: JsonWriters = {
  string: (text) => JSON.stringify(text),
  number: (value) => JSON.stringify(value),
};

/**
 * One line of JSON: keys sorted by UTF-16 code units as RFC 8785 § 3.2.3 sorts them, no whitespace. The value's nesting was
 * bounded where it was read.
 */
export function canonicalText(value: JsonValue, writers: JsonWriters = plainWriters): string {
  if (typeof value === "string") return writers.string(value);
  if (typeof value === "number") return writers.number(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (isArray(value)) return `[${value.map((each) => canonicalText(each, writers)).join(",")}]`;
  const members = Object.entries(value).flatMap(([key, each]) => (each === undefined ? [] : [memberOf(key, each)]));
  members.sort((one, other) => (one.order < other.order ? -1 : 1));
  return `{${members.map(({ text }) => text).join(",")}}`;

  function memberOf(key: string, each: JsonValue): { readonly order: string; readonly text: string } {
    const written = writers.string(key);
    const text = writers.member?.(key, each) ?? canonicalText(each, writers);
    // The order is that of the keys as they are written: a placeholder stands elsewhere than the path that it replaces.
    return { order: JSON.parse(written), text: `${written}:${text}` };
  }
}

/** `Array.isArray` does not narrow a readonly array out of a union. */
function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
