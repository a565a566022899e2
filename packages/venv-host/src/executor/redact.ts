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
  const short = needles.filter((token) => token.length < MIN_NEEDLE_CHARS);
  // Longest first: a token that contains another is replaced as a whole. No patterns: an error of one would print it.
  const hide = (text: string): string => {
    const afterLong = long.reduce((rest, token) => rest.replaceAll(token, REDACTED), text);
    return short.reduce(hideWord, afterLong);
  };
  const holdsLong = (text: string): boolean => long.some((token) => text.includes(token));
  const isIn = (value: JsonValue): boolean => {
    if (typeof value === "string") return holdsLong(value);
    if (Array.isArray(value)) return value.some(isIn);
    return isJsonObject(value) && Object.entries(value).some(([name, member]) => holdsLong(name) || isIn(member));
  };
  return { isIdle: false, text: hide, isIn };
}

/** Replaces the token where nothing but separators stands beside it. */
function hideWord(text: string, token: string): string {
  let hidden = "";
  let from = 0;
  for (let at = text.indexOf(token); at !== -1; at = text.indexOf(token, at + token.length)) {
    const isWord = isSeparator(text[at - 1]) && isSeparator(text[at + token.length]);
    if (!isWord) continue;
    hidden += text.slice(from, at) + REDACTED;
    from = at + token.length;
  }
  return hidden + text.slice(from);
}

function isSeparator(character: string | undefined): boolean {
  return character === undefined || /[\s=:,;&"']/u.test(character);
}
