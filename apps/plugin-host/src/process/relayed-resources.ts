import { compileTemplate } from "@berth/mcp-relay";
import type { RelayedAddresses, RelayedResource, RelayedResourceTemplate } from "@berth/mcp-server";
import { told } from "./plugin-words.js";
import { listShapes, type ReadListOptions, readList } from "./read-list.js";
import { type RelayParts, relayRequest } from "./relay-request.js";

/** A resource or template of one plugin, by the plugin's own address for it. */
export type Addressed<R> = R & { readonly address: string };

/**
 * The resources that one plugin lists. Their addresses stay as they are.
 * @throws what asking for the list throws.
 */
export async function relayedResources(
  parts: RelayParts,
  permission: string,
  options: ReadListOptions,
): Promise<readonly Addressed<RelayedResource<string>>[]> {
  const listed = await readList(parts.half, listShapes.resources, options);
  return listed.map(({ name, definition }) => {
    const read = { subject: { method: "resources/read", resource: name } };
    return { address: name, permission, definition, read: (call) => relayRequest(parts, read, call) };
  });
}

/**
 * Its resource templates; one that no address can be compared with is left out, and told.
 * @param completes Whether it proposes values for their variables.
 * @throws what asking for the list throws.
 */
export async function relayedTemplates(
  parts: RelayParts,
  permission: string,
  completes: boolean,
  options: ReadListOptions,
): Promise<readonly Addressed<RelayedResourceTemplate<string>>[]> {
  const listed = await readList(parts.half, listShapes.templates, options);
  const unread: string[] = [];
  const templates = listed.flatMap(({ name, definition }) => {
    const matches = compileTemplate(name);
    if (matches === undefined) {
      unread.push(name);
      return [];
    }
    const read = { subject: { method: "resources/read", template: name } };
    const complete = { subject: { method: "completion/complete", template: name } };
    const made: Addressed<RelayedResourceTemplate<string>> = {
      address: name,
      permission,
      definition,
      matches,
      read: (call) => relayRequest(parts, read, call),
      ...(completes && { complete: (call) => relayRequest(parts, complete, call) }),
    };
    return [made];
  });
  if (unread.length > 0) options.onNote(`resource templates that cannot be read are left out: ${told(unread)}`);
  return templates;
}

/** For addresses that nobody lists: the plugin knows which there are. */
export function unlistedResources(parts: RelayParts, permission: string): RelayedAddresses<string> {
  return { permission, read: (call) => relayRequest(parts, { subject: { method: "resources/read" } }, call) };
}
