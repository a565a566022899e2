import type { JsonObject } from "@berth/jsonrpc-framing";
import { isTooDeep, maxDepth } from "./nesting.js";
import { pluginFault } from "./plugin-fault.js";

/** Levels that params may have: the message around them is the first. */
const maxParamsDepth = maxDepth - 1;

/**
 * Params as JSON that a plugin can read: one that it cannot read it answers without an id, which would end it.
 * @throws {ProcessPluginError} `REQUEST_INVALID`.
 */
export function requestJson(plugin: string, params: JsonObject): string {
  const json = stringify(plugin, params);
  if (!isTooDeep(Buffer.from(json, "utf8"), maxParamsDepth)) return json;
  throw pluginFault(plugin, "REQUEST_INVALID", `takes messages of at most ${maxDepth} levels`);
}

function stringify(plugin: string, params: JsonObject): string {
  try {
    return JSON.stringify(params);
  } catch (cause) {
    // A cycle, a BigInt, or too many levels for the stack.
    throw pluginFault(plugin, "REQUEST_INVALID", "takes only what has a JSON form", { cause });
  }
}
