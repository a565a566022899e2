import { CLOSE_BRACE, CLOSE_BRACKET, COLON, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-bytes.js";
import { findQuote } from "./json-string.js";

/** What the bytes of a JSON text tell without their values. */
export interface TextSurvey {
  /** Members of all objects as they were written: each has one colon. */
  readonly members: number;
  /** Levels of nesting; 0 for a text without an array or object. */
  readonly depth: number;
}

/** Walks over the bytes once. The text is known to be JSON. */
export function surveyText(bytes: Buffer): TextSurvey {
  const end = bytes.length;
  let members = 0;
  let level = 0;
  let depth = 0;
  for (let i = 0; i < end; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      i = findQuote(bytes, i + 1, end);
      if (i === -1) break; // never in a JSON text
    } else if (byte === COLON) {
      members++;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      level++;
      if (level > depth) depth = level;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      level--;
    }
  }
  return { members, depth };
}
