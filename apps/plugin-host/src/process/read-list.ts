import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import type { McpHalf } from "./mcp-halves.js";
import { isObject } from "./plugin-client.js";
import { ownMeta } from "./request-meta.js";

/** Of one list of one plugin; more is what a plugin does that means no good. */
const most = { pages: 64, entries: 1_024, entryBytes: 256 * 1024, bytes: 4 * 1024 * 1024 } as const;

/** One of the lists that a plugin may have. */
export interface ListShape {
  readonly method: string;
  /** Of the result. */
  readonly member: string;
  /** Of an entry: what tells it from others. */
  readonly key: "name" | "uri" | "uriTemplate";
  /** What its entries are called in lines for the operator. */
  readonly entries: string;
  /** What the list is called there. */
  readonly list: string;
  /** Of those that are taken; default 1,024. */
  readonly maxEntries?: number | undefined;
}

export const listShapes: Readonly<Record<"tools" | "prompts" | "resources" | "templates", ListShape>> = {
  tools: { method: "tools/list", member: "tools", key: "name", entries: "tools", list: "its list" },
  prompts: { method: "prompts/list", member: "prompts", key: "name", entries: "prompts", list: "its list of prompts" },
  resources: {
    method: "resources/list",
    member: "resources",
    key: "uri",
    entries: "resources",
    list: "its list of resources",
  },
  templates: {
    method: "resources/templates/list",
    member: "resourceTemplates",
    key: "uriTemplate",
    entries: "resource templates",
    list: "its list of resource templates",
    maxEntries: 128, // each is tried for each address that nobody lists
  },
};

/** An entry, and what tells it from others. */
export interface ListEntry {
  readonly name: string;
  readonly definition: JsonObject;
}

export interface ReadListOptions {
  readonly signal: AbortSignal;
  readonly onNote: (line: string) => void;
}

/**
 * The entries of one list of one plugin that are within the bounds. What is none is left out, and told in one line for each reason.
 * @throws what asking for it throws.
 */
export async function readList(
  half: McpHalf,
  shape: ListShape,
  options: ReadListOptions,
): Promise<readonly ListEntry[]> {
  const { key, entries } = shape;
  const definitions = await readPages(half, shape, options);
  const named = definitions.flatMap((definition) => {
    const name = definition[key];
    return typeof name === "string" && name !== "" ? [{ name, definition }] : [];
  });
  if (named.length < definitions.length)
    options.onNote(`${definitions.length - named.length} ${entries} without a ${key} are left out`);
  return named;
}

async function readPages(
  half: McpHalf,
  { method, member, entries, list, maxEntries = most.entries }: ListShape,
  { signal, onNote }: ReadListOptions,
): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  const left = { bytes: most.bytes, tooLarge: 0, broken: 0 };
  let cursor: JsonValue | undefined;
  for (let page = 0; page < most.pages; page += 1) {
    const params = { _meta: ownMeta(), ...(cursor === undefined ? {} : { cursor }) };
    const { [member]: listed, nextCursor } = await half.request({ method, params, signal });
    for (const entry of Array.isArray(listed) ? listed : [undefined]) {
      if (!isObject(entry)) left.broken += 1;
      else if (fits(entry, left)) found.push(entry);
      else left.tooLarge += 1;
    }
    cursor = nextCursor;
    if (typeof cursor !== "string" || found.length > maxEntries || left.bytes <= 0) break;
  }
  if (left.broken > 0) onNote(`${left.broken} entries of ${list} that are no ${entries} are left out`);
  if (left.tooLarge > 0)
    onNote(`${left.tooLarge} ${entries} are left out: over ${most.entryBytes} bytes each, or ${most.bytes} together`);
  if (found.length > maxEntries) onNote(`it lists more than ${maxEntries} ${entries}: the others are left out`);
  else if (typeof cursor === "string") onNote(`${list} has more than ${most.pages} pages: the others are left out`);
  return found.slice(0, maxEntries);
}

function fits(entry: JsonObject, left: { bytes: number }): boolean {
  const bytes = Buffer.byteLength(JSON.stringify(entry));
  if (bytes > most.entryBytes) return false;
  left.bytes -= bytes;
  return left.bytes > 0;
}
