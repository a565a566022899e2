import { applyEdits, type FormattingOptions, modify } from "jsonc-parser";
import type { CatalogServer, InterpreterPin } from "./catalog.js";
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
 * The same catalog with these pins written in. Other entries stay to the byte, what is written follows the file's own
 * indentation and line ends, and an object on one line that gets a member is spread over several. Expects a text that
 * `readCatalog` accepts; names that it does not hold are passed over.
 */
export function writePins(text: string, pins: ReadonlyMap<string, ServerPins>, names: Iterable<string>): string {
  const held = new Set(names);
  const format = formatOf(text);
  let edited = text;
  const set = (path: (string | number)[], value: unknown): void => {
    edited = applyEdits(edited, modify(edited, path, value, { formattingOptions: format }));
  };
  for (const [name, server] of pins) {
    if (!held.has(name)) continue;
    set(["servers", name, "spawn", "digest"], server.digest);
    set(["servers", name, "spawn", "interpreter"], server.interpreter);
    set(["servers", name, "pinnedInitialize"], server.initialize);
    set(["servers", name, "tools", "pinned"], sorted(server.tools));
    set(["servers", name, "tools", "pinnedPrompts"], sorted(server.prompts));
    set(["servers", name, "tools", "pinnedResourceTemplates"], sorted(server.resourceTemplates));
  }
  return edited;
}

/** The same catalog with these entries after the ones it has. Expects names that it does not have yet. */
export function addServers(text: string, servers: ReadonlyMap<string, CatalogServer>): string {
  const format = formatOf(text);
  let edited = text;
  for (const [name, server] of servers) {
    edited = applyEdits(edited, modify(edited, ["servers", name], server, { formattingOptions: format }));
  }
  return edited;
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

function formatOf(text: string): FormattingOptions {
  const indent = /\n([ \t]+)\S/u.exec(text)?.[1] ?? "  ";
  const insertSpaces = !indent.startsWith("\t");
  return { insertSpaces, tabSize: insertSpaces ? indent.length : 1, eol: text.includes("\r\n") ? "\r\n" : "\n" };
}
