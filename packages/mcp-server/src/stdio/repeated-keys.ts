import type { JsonArray, JsonObject } from "@berth/jsonrpc-framing";

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

/** Recursion is bounded: a message that was parsed is at most 128 levels deep. `for…in` makes no list of keys, on a hot path. */
function countMembers(node: JsonObject | JsonArray): number {
  let members = 0;
  if (isArray(node)) {
    for (const child of node) if (typeof child === "object" && child !== null) members += countMembers(child);
    return members;
  }
  for (const key in node) {
    members += 1;
    const child = node[key];
    if (typeof child === "object" && child !== null) members += countMembers(child);
  }
  return members;
}

function isArray(node: JsonObject | JsonArray): node is JsonArray {
  return Array.isArray(node);
}
