import type { CatalogServer, InterpreterPin } from "./catalog.js";
import { setMembers } from "./json-edit.js";
import type { PinnedDefinition, PinnedInitialize } from "./server-policy.js";

/** What was accepted about one server; replaces what its entry said before. */
export interface ServerPins {
  /** `sha256:HEX` or `tree-v1:HEX`. */
  readonly digest: string;
  readonly interpreter?: InterpreterPin | undefined;
  readonly tools: ReadonlyMap<string, PinnedDefinition>;
  readonly prompts: ReadonlyMap<string, PinnedDefinition>;
  /** By `uriTemplate`. */
  readonly resourceTemplates: ReadonlyMap<string, PinnedDefinition>;
  readonly initialize?: PinnedInitialize | undefined;
}

/** The text of a catalog without servers. */
export const emptyCatalog: string = `${JSON.stringify({ version: 1, servers: {} }, undefined, 2)}\n`;

/**
 * The same catalog with these pins written in. All other text stays to the byte, save that an object on one line that gets
 * a member is spread over several; what is written follows the file's own indentation and line ends. Expects a text that
 * `readCatalog` accepts; names that it does not hold are passed over.
 */
export function writePins(text: string, pins: ReadonlyMap<string, ServerPins>, names: Iterable<string>): string {
  const held = new Set(names);
  let edited = text;
  for (const [name, server] of pins) {
    if (!held.has(name)) continue;
    const { digest, interpreter, initialize } = server;
    edited = setMembers(edited, ["servers", name, "spawn"], { digest, interpreter });
    edited = setMembers(edited, ["servers", name], { pinnedInitialize: initialize });
    edited = setMembers(edited, ["servers", name, "tools"], {
      pinned: sorted(server.tools),
      pinnedPrompts: sorted(server.prompts),
      pinnedResourceTemplates: sorted(server.resourceTemplates),
    });
  }
  return edited;
}

/** The same catalog with these entries after the ones it has. Expects names that it does not have yet. */
export function addServers(text: string, servers: ReadonlyMap<string, CatalogServer>): string {
  return setMembers(text, ["servers"], Object.fromEntries(servers));
}

/** Pins in the order of their names, so that two pinnings of one server give the same text. */
function sorted(pins: ReadonlyMap<string, PinnedDefinition>): Record<string, PinnedDefinition> {
  const record: Record<string, PinnedDefinition> = Object.create(null);
  for (const name of [...pins.keys()].sort()) {
    const pin = pins.get(name);
    if (pin !== undefined) record[name] = { digest: pin.digest, definition: pin.definition };
  }
  return record;
}
