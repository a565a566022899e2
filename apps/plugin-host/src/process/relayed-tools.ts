import { exposedName } from "@berth/mcp-relay";
import type { RelayedTool } from "@berth/mcp-server";
import { listShapes, type ReadListOptions, readList } from "./read-list.js";
import { type RelayParts, relayRequest } from "./relay-request.js";

/**
 * The tools of one plugin, under names that begin with the plugin's.
 * @throws what asking for the list throws.
 */
export async function relayedTools(
  parts: RelayParts,
  permission: string,
  options: ReadListOptions,
): Promise<readonly RelayedTool<string>[]> {
  const { half } = parts;
  const listed = await readList(half, listShapes.tools, options);
  return listed.map(({ name, definition }) => {
    const ask = { subject: { method: "tools/call", tool: name }, renamed: { name } };
    return {
      permission,
      definition: { ...definition, name: exposedName(half.plugin, name, "prefixed") },
      call: (call) => relayRequest(parts, ask, call),
    };
  });
}
