import { type Span, spanType, splitObject } from "@berth/jsonrpc-framing";
import { quoted } from "./quoted.js";

/** Objects of a manifest lie no deeper than this; what does is an unknown key, which is refused by its name. */
const maxDepth = 4;

/**
 * Keys that stand twice in one object, where JSON.parse would keep the last: a restriction could be lost. One sentence each.
 * @param bytes Well-formed JSON.
 */
export function findRepeatedKeys(bytes: Uint8Array): readonly string[] {
  const start = bytes.findIndex((byte) => !isWhiteSpace(byte));
  const end = bytes.findLastIndex((byte) => !isWhiteSpace(byte)) + 1;
  return start === -1 ? [] : inObject(bytes, { start, end }, []);
}

function inObject(bytes: Uint8Array, span: Span, path: readonly string[]): readonly string[] {
  if (spanType(bytes, span) !== "object" || path.length >= maxDepth) return [];
  const seen = new Map<string, number>();
  const problems: string[] = [];
  // Never TOO_MANY_ITEMS: a manifest of 256 KiB has room for 52,428 members.
  for (const { key, value } of splitObject(bytes, span)) {
    const place = [...path, key];
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    if (times === 2) problems.push(`${pathText(place)} stands more than once`);
    problems.push(...inObject(bytes, value, place));
  }
  return problems;
}

/** `process.env.NAME`; a key that is no plain name is quoted. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    const name = String(key);
    const shown = /^\w{1,64}$/.test(name) ? name : quoted(name);
    return text === "" ? shown : `${text}.${shown}`;
  }, "");
}

function isWhiteSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
