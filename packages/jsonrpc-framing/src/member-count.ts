import { COLON, QUOTE } from "./json-bytes.js";
import { findQuote } from "./json-string.js";
import { nextLevel } from "./json-tree.js";

/** How many members the objects of a JSON text have as it was written: each with one colon. The text is known to be JSON. */
export function countWrittenMembers(bytes: Buffer): number {
  const end = bytes.length;
  let members = 0;
  for (let i = 0; i < end; i++) {
    const byte = bytes[i];
    if (byte === COLON) members++;
    if (byte !== QUOTE) continue;
    i = findQuote(bytes, i + 1, end);
    if (i === -1) break; // never in a JSON text
  }
  return members;
}

/** How many members the objects in a parsed value have: fewer than were written when a key was there twice. */
export function countMembers(root: unknown): number {
  let members = 0;
  let level: readonly object[] = typeof root === "object" && root !== null ? [root] : [];
  while (level.length > 0) {
    for (const node of level) if (!Array.isArray(node)) members += Object.keys(node).length;
    level = nextLevel(level);
  }
  return members;
}
