import {
  FramingError,
  isFramingError,
  readMember,
  readScalar,
  readString,
  type Span,
  splitArray,
  wireErrors,
} from "@berth/jsonrpc-framing";
import type { ListRules } from "../list-kinds.js";
import { joined, requestFrame } from "../translate.js";
import { upstreamGone } from "../wire-errors.js";
import { askPeer, type OwnAnswer } from "./own-request.js";
import type { Peer } from "./peer.js";

/** One element of a list, as a place in the page on which it came. */
export interface ListEntry {
  readonly name: string;
  readonly frame: Uint8Array;
  readonly span: Span;
  readonly nameSpan: Span;
}

/** All pages of one list. */
export interface FetchedList {
  readonly entries: readonly ListEntry[];
  /** The first page; absent when the server does not know the method. */
  readonly firstPage?: OwnAnswer | undefined;
  /** Whether the first page is all there is. */
  readonly complete: boolean;
  /** Elements that have no name, for the operator. */
  readonly nameless: number;
}

/** Elements of one list, beyond which comparing and showing would hold up all other calls. One that is compared takes longer: twice the pins that a catalog may hold. */
export const maxElements = { shown: 65_536, compared: 8_192 } as const;

/** What bounds the fetching of one list. */
export interface FetchBounds {
  /** For all pages together. */
  readonly listMs: number;
  readonly maxPages: number;
  readonly maxBytes: number;
  readonly maxElements: number;
  now(): number;
}

/**
 * Asks for all pages (MCP 2025-11-25, Pagination: the end is an absent `nextCursor`). A server that does not know the method has none.
 * @throws {RelayFault} `LIST_FAILED`: an error answer, a malformed one, a cursor that comes again, too many pages, elements or bytes; or why no answer came.
 */
export async function fetchList(
  peer: Peer,
  server: string,
  rules: ListRules,
  bounds: FetchBounds,
): Promise<FetchedList> {
  const { method } = rules;
  const failed = (detail: string) => upstreamGone(server, "LIST_FAILED", `${method}: ${detail}`);
  const dueAt = bounds.now() + bounds.listMs;
  const pages: OwnAnswer[] = [];
  const cursors = new Set<string>();
  let bytes = 0;
  for (let cursor: string | undefined; ; ) {
    const waitMs = dueAt - bounds.now();
    if (waitMs <= 0) throw failed(`took more than ${bounds.listMs} ms`);
    const page = await askPeer(peer, listRequest(method, cursor), { silenceMs: waitMs, totalMs: waitMs });
    if (page.kind === "error") {
      if (pages.length === 0 && errorCode(page) === wireErrors.methodNotFound) break;
      throw failed(`error ${errorCode(page)}`);
    }
    pages.push(page);
    bytes += page.frame.length;
    if (bytes > bounds.maxBytes) throw failed(`more than ${bounds.maxBytes} bytes`);
    cursor = nextCursor(page);
    if (cursor === undefined) break;
    if (cursors.has(cursor)) throw failed("a cursor came again");
    if (pages.length >= bounds.maxPages) throw failed(`more than ${bounds.maxPages} pages`);
    cursors.add(cursor);
  }
  try {
    return readPages(pages, rules, bounds.maxElements);
  } catch (error) {
    throw isFramingError(error) ? failed(error.message) : error;
  }
}

function listRequest(method: string, cursor: string | undefined): (id: number) => Uint8Array {
  return (id) => requestFrame(id, method, cursor === undefined ? undefined : joined(`{"cursor":`, cursor, "}"));
}

function errorCode({ frame, envelope }: OwnAnswer): number | undefined {
  const code = envelope.error && readMember(frame, envelope.error, ["code"]);
  const value = code && readScalar(frame, code);
  return typeof value === "number" ? value : undefined;
}

/** The cursor as JSON text, sent back as it came; `null`, which some servers send for "no more", ends the list too. */
function nextCursor({ frame, envelope }: OwnAnswer): string | undefined {
  const span = envelope.result && readMember(frame, envelope.result, ["nextCursor"]);
  const text = span && Buffer.from(frame.subarray(span.start, span.end)).toString();
  return text === "null" ? undefined : text;
}

function readPages(pages: readonly OwnAnswer[], { member, nameMember }: ListRules, most: number): FetchedList {
  const entries: ListEntry[] = [];
  let nameless = 0;
  for (const { frame, envelope } of pages) {
    const array = envelope.result && readMember(frame, envelope.result, [member]);
    if (array === undefined) throw new FramingError("MESSAGE_INVALID", `an answer without ${member}`);
    for (const span of splitArray(frame, array)) {
      const nameSpan = readMember(frame, span, [nameMember]);
      const name = nameSpan && readString(frame, nameSpan);
      if (nameSpan === undefined || name === undefined) nameless += 1;
      else entries.push({ name, frame, span, nameSpan });
    }
    if (entries.length + nameless > most) {
      throw new FramingError("MESSAGE_INVALID", `more than ${most} elements`);
    }
  }
  return { entries, firstPage: pages[0], complete: pages.length === 1 && nameless === 0, nameless };
}
