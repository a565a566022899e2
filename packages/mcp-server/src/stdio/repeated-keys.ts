import type { JsonObject } from "@berth/jsonrpc-framing";

const COLON = 0x3a;

/**
 * Whether a key may occur twice in an object of this message, told without reading its grammar: each member was written with a colon, so as many
 * colons as members were parsed means that none was lost. More colons may stand in strings: then only a full reading can tell.
 */
export function mayRepeatKeys(bytes: Uint8Array, message: JsonObject): boolean {
  let colons = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === COLON) colons += 1;
  return colons !== countMembers(message);
}

/** Without recursion: a message may be 128 levels deep, and much wider. */
function countMembers(message: JsonObject): number {
  let members = 0;
  const waiting: object[] = [message];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const children: readonly unknown[] = Array.isArray(node) ? node : Object.values(node);
    if (!Array.isArray(node)) members += children.length;
    for (const child of children) if (typeof child === "object" && child !== null) waiting.push(child);
  }
  return members;
}
