/** Levels of arrays and objects that a message may have, the message itself being the first (PROTOCOL.md § 3). */
export const maxDepth = 128;

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Whether JSON has more levels than allowed; the bytes were checked to be JSON. A loop over bytes: parsers that recurse are what it protects. */
export function isTooDeep(json: Uint8Array, levels: number = maxDepth): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === quote) {
      at = closingQuote(json, at + 1);
    } else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > levels) return true;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
    }
  }
  return false;
}

function closingQuote(json: Uint8Array, from: number): number {
  let at = from;
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1;
  return at;
}
