import { exposedName } from "@berth/mcp-relay";
import type { RelayedPrompt } from "@berth/mcp-server";
import { isObject } from "./plugin-client.js";
import { listShapes, type ReadListOptions, readList } from "./read-list.js";
import { type RelayParts, relayRequest } from "./relay-request.js";

/**
 * The prompts of one plugin, under names that begin with the plugin's.
 * @param completes Whether it proposes values for their arguments.
 * @throws what asking for the list throws.
 */
export async function relayedPrompts(
  parts: RelayParts,
  permission: string,
  completes: boolean,
  options: ReadListOptions,
): Promise<readonly RelayedPrompt<string>[]> {
  const { half } = parts;
  const listed = await readList(half, listShapes.prompts, options);
  return listed.map(({ name, definition }) => {
    const get = { subject: { method: "prompts/get", prompt: name }, renamed: { name } };
    return {
      permission,
      definition: { ...definition, name: exposedName(half.plugin, name, "prefixed") },
      get: (call) => relayRequest(parts, get, call),
      ...(completes && { complete: completion(parts, name) }),
    };
  });
}

function completion(parts: RelayParts, prompt: string): RelayedPrompt<string>["get"] {
  return (call) => {
    const { ref } = call.params;
    const renamed = { ref: { ...(isObject(ref) ? ref : {}), name: prompt } };
    return relayRequest(parts, { subject: { method: "completion/complete", prompt }, renamed }, call);
  };
}
