import { type Envelope, readMember, type Span, spanType, splitObject } from "@berth/jsonrpc-framing";
import type { LegacyRevision } from "@berth/mcp-server/protocol";
import { copySpan, joined } from "../translate.js";

/** What a server of 2026-07-28 offers to be told of. */
export interface Offers {
  readonly toolsListChanged: boolean;
  readonly promptsListChanged: boolean;
  readonly resourcesListChanged: boolean;
  readonly resourceSubscriptions: boolean;
}

/** Whether an answer is that of a server of 2026-07-28 to `server/discover`. */
export function isDiscovery(frame: Uint8Array, { result }: Envelope): boolean {
  const versions = result && readMember(frame, result, ["supportedVersions"]);
  return versions !== undefined && spanType(frame, versions) === "array";
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

/** Its answer to `server/discover` as the result of `initialize` (MCP 2025-11-25, Lifecycle § Initialization). */
export function initializeResult(frame: Uint8Array, { result }: Envelope, revision: LegacyRevision): Uint8Array {
  const member = (path: readonly string[]): Span | undefined => result && readMember(frame, result, path);
  const said = member(["capabilities"]);
  const server = member(["_meta", "io.modelcontextprotocol/serverInfo"]);
  const instructions = member(["instructions"]);
  const isObject = (span: Span | undefined): span is Span => span !== undefined && spanType(frame, span) === "object";
  return joined(
    `{"protocolVersion":"${revision}","capabilities":`,
    isObject(said) ? legacyCapabilities(frame, said) : "{}",
    `,"serverInfo":`,
    isObject(server) ? copySpan(frame, server) : '{"name":"unknown","version":"unknown"}',
    ...(instructions === undefined ? [] : [`,"instructions":`, copySpan(frame, instructions)]),
    "}",
  );
}

/** `extensions` are of 2026-07-28, and some clients of older revisions take no member that they do not know. */
function legacyCapabilities(frame: Uint8Array, capabilities: Span): Uint8Array {
  const kept = splitObject(frame, capabilities).filter(({ key }) => key !== "extensions");
  const parts = kept.flatMap(({ keySpan, value }, index) => [
    index === 0 ? "" : ",",
    copySpan(frame, { start: keySpan.start, end: value.end }),
  ]);
  return joined("{", ...parts, "}");
}
