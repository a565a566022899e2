import { type Envelope, readMember, readString, type Span, spanType, splice, splitArray } from "@berth/jsonrpc-framing";
import { type LegacyRevision, modernRevisions } from "@berth/mcp-server/protocol";
import { copySpan, joined } from "../translate.js";
import { removals } from "./object-edits.js";

/** What a server of 2026-07-28 offers to be told of. */
export interface Offers {
  readonly toolsListChanged: boolean;
  readonly promptsListChanged: boolean;
  readonly resourcesListChanged: boolean;
  readonly resourceSubscriptions: boolean;
}

/** Key under which results of 2026-07-28 name their server. */
const serverInfoKey = "io.modelcontextprotocol/serverInfo";
/** `extensions` are of 2026-07-28, and some clients of older revisions take no member that they do not know; `tasks` meant something else before. */
const notOffered: ReadonlySet<string> = new Set(["extensions", "tasks"]);

/** Whether an answer is that of a server of 2026-07-28 to `server/discover`. @throws {FramingError} `TOO_MANY_ITEMS` */
export function isDiscovery(frame: Uint8Array, { result }: Envelope): boolean {
  const versions = result && readMember(frame, result, ["supportedVersions"]);
  if (versions === undefined || spanType(frame, versions) !== "array") return false;
  return splitArray(frame, versions).some((span) => readString(frame, span) === modernRevisions[0]);
}

/** What it offers to tell, from its answer to `server/discover`. */
export function readOffers(frame: Uint8Array, { result }: Envelope): Offers {
  const has = (...path: readonly string[]): boolean => {
    const span = result && readMember(frame, result, ["capabilities", ...path]);
    return span !== undefined && spanType(frame, span) === "boolean" && frame[span.start] === letterT;
  };
  return {
    toolsListChanged: has("tools", "listChanged"),
    promptsListChanged: has("prompts", "listChanged"),
    resourcesListChanged: has("resources", "listChanged"),
    resourceSubscriptions: has("resources", "subscribe"),
  };
}

const letterT = 0x74;

/** Its answer to `server/discover` as the result of `initialize` (MCP 2025-11-25, Lifecycle § Initialization). @throws {FramingError} `TOO_MANY_ITEMS` */
export function initializeResult(frame: Uint8Array, { result }: Envelope, revision: LegacyRevision): Uint8Array {
  const member = (...path: readonly string[]): Span | undefined => result && readMember(frame, result, path);
  const said = member("capabilities");
  const instructions = member("instructions");
  return joined(
    `{"protocolVersion":"${revision}","capabilities":`,
    said !== undefined && spanType(frame, said) === "object" ? legacyCapabilities(copySpan(frame, said)) : "{}",
    `,"serverInfo":`,
    serverInfo(frame, member("_meta", serverInfoKey)),
    ...(isText(frame, instructions) ? [`,"instructions":`, copySpan(frame, instructions)] : []),
    "}",
  );
}

/** Without a name and a version, which 2026-07-28 does not insist on, clients refuse the whole answer. */
function serverInfo(frame: Uint8Array, said: Span | undefined): Uint8Array | string {
  const isWhole =
    said !== undefined &&
    isText(frame, readMember(frame, said, ["name"])) &&
    isText(frame, readMember(frame, said, ["version"]));
  return isWhole ? copySpan(frame, said) : '{"name":"unknown","version":"unknown"}';
}

function isText(frame: Uint8Array, span: Span | undefined): span is Span {
  return span !== undefined && spanType(frame, span) === "string";
}

function legacyCapabilities(said: Uint8Array): Uint8Array {
  return splice(said, removals(said, { start: 0, end: said.length }, notOffered));
}
