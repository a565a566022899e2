import { isJsonObject } from "./bounded-json.js";
import type { JsonValue } from "./json.js";

/** Stands where a token was. */
export const REDACTED = "**********";

/** A shorter token may be part of any word: only where it stands alone is it taken for the token. */
const MIN_NEEDLE_CHARS = 12;

/** Knows the tokens of a request, and shows them to nobody. */
export interface Redactor {
  /** Whether there is anything to hide. */
  readonly isIdle: boolean;
  /** The text with each token replaced. */
  text(text: string): string;
  /** Whether a value holds a token of 12 characters or more, in a text or a name. */
  isIn(value: JsonValue): boolean;
}

/** The tokens live in the closure only: inspecting or serialising a redactor shows none. */
export function createRedactor(tokens: readonly string[]): Redactor {
  const needles = [...new Set(tokens.filter((token) => token.trim() !== ""))].sort((a, b) => b.length - a.length);
  if (needles.length === 0) return { isIdle: true, text: (text) => text, isIn: () => false };
  const long = needles.filter((token) => token.length >= MIN_NEEDLE_CHARS);
  // Longest first: a token that contains another is replaced as a whole.
  const pattern = new RegExp(needles.map(patternOf).join("|"), "gu");
  const holdsLong = (text: string): boolean => long.some((token) => text.includes(token));
  const isIn = (value: JsonValue): boolean => {
    if (typeof value === "string") return holdsLong(value);
    if (Array.isArray(value)) return value.some(isIn);
    return isJsonObject(value) && Object.entries(value).some(([name, member]) => holdsLong(name) || isIn(member));
  };
  return { isIdle: false, text: (text) => text.replaceAll(pattern, REDACTED), isIn };
}

function patternOf(token: string): string {
  const literal = token.replaceAll(/[\\^$.*+?()[\]{}|/-]/gu, "\\$&");
  return token.length >= MIN_NEEDLE_CHARS ? literal : `(?<![^\\s=:,;"'])${literal}(?![^\\s&,;"'])`;
}
