import { type JsonObject, type JsonValue, wireErrors } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";
import { deepFreeze } from "../json.js";
import type { ProtocolRevision } from "../revisions.js";

/** A result that is made once and sent many times. */
export class EncodedResult {
  readonly value: JsonObject;
  readonly bytes: Buffer;
  constructor(value: JsonObject) {
    this.value = deepFreeze(value);
    this.bytes = Buffer.from(JSON.stringify(value));
  }
}

/** One thing that a list may show. */
export interface Listed {
  readonly name: string;
  readonly permission: string;
  render(revision: ProtocolRevision): JsonObject;
}

/** One of the four lists of a server. Its pages are kept as bytes, for each revision and set of visible entries. */
export interface PagedList {
  readonly entries: readonly Listed[];
  /** @throws {RpcError} -32602 for a cursor that is none of this list, or of an entry that is not visible. */
  page(revision: ProtocolRevision, visible: readonly boolean[], cursor: JsonValue | undefined): EncodedResult;
}

/** What a list is made of. */
export interface ListOptions {
  /** The member of the result, such as `tools`. */
  readonly member: string;
  readonly entries: readonly Listed[];
  readonly pageSize: number;
  /** Makes the result of a page: adds what its revision wants around it. */
  wrap(result: JsonObject, revision: ProtocolRevision): JsonObject;
}

/** Pages kept. A principal's set of visible entries is a key, so there may be many. */
const maxKept = 256;

export function createPagedList({ member, entries, pageSize, wrap }: ListOptions): PagedList {
  const kept = new Map<string, EncodedResult>();
  const build = (revision: ProtocolRevision, visible: readonly boolean[], from: number): EncodedResult => {
    const shown = entries.filter((_, index) => index >= from && visible[index] === true);
    const page = shown.slice(0, pageSize);
    const last = page.at(-1);
    const rest = shown.length > pageSize && last !== undefined ? { nextCursor: toCursor(member, last.name) } : {};
    return new EncodedResult(wrap({ [member]: page.map((entry) => entry.render(revision)), ...rest }, revision));
  };
  return {
    entries,
    page(revision, visible, cursor) {
      const from = cursor === undefined ? 0 : startOf(cursor, member, entries, visible);
      const key = `${revision} ${from} ${visible.map(Number).join("")}`;
      const found = kept.get(key);
      if (found !== undefined) return found;
      const [oldest] = kept.keys();
      if (kept.size >= maxKept && oldest !== undefined) kept.delete(oldest);
      const made = build(revision, visible, from);
      kept.set(key, made);
      return made;
    },
  };
}

/** Names the last entry shown and nothing else: an offset would tell how many entries are hidden. */
function toCursor(member: string, name: string): string {
  return Buffer.from(`${member}:${name}`).toString("base64url");
}

function startOf(cursor: JsonValue, member: string, entries: readonly Listed[], visible: readonly boolean[]): number {
  const index = entries.findIndex(({ name }, at) => visible[at] === true && toCursor(member, name) === cursor);
  if (index < 0) throw new RpcError(wireErrors.invalidParams, "the cursor is not valid");
  return index + 1;
}
