import { endsEscaped, findQuote } from "./json-string.js";

/** Finds where a string ends whose bytes come in chunks. */
export interface StringRun {
  /** The place behind the closing quote; -1 when all of `bytes` from `at` on are inside the string, which goes on. */
  end(bytes: Buffer, at: number): number;
}

/** See `StringRun`. After an end it is ready for the next string. */
export function createStringRun(): StringRun {
  let escaped = false; // whether a chunk ended with a backslash that escapes the next byte
  return {
    end(bytes, at) {
      const from = escaped ? at + 1 : at;
      const quote = findQuote(bytes, from, bytes.length);
      escaped = quote === -1 && endsEscaped(bytes, from, bytes.length);
      return quote === -1 ? -1 : quote + 1;
    },
  };
}
