import { readMember, readScalar, readString, spanType, splitObject } from "@berth/jsonrpc-framing";
import { isLegacyRevision, type LegacyRevision } from "@berth/mcp-server/protocol";
import { visibleText } from "../visible-text.js";
import { upstreamGone } from "../wire-errors.js";
import { askPeer, type OwnAnswer } from "./own-request.js";
import type { Peer } from "./peer.js";

/** What a server said of itself in its answer to `initialize`. */
export interface Introduction {
  /** The answer as it came. */
  readonly answer: OwnAnswer;
  readonly revision: LegacyRevision;
  /** Names of the capabilities that it has. */
  readonly capabilities: ReadonlySet<string>;
  readonly instructions: string | undefined;
}

/**
 * The first half of the handshake (MCP 2025-11-25, Lifecycle § Initialization). `notifications/initialized` is the caller's to send, when it is
 * satisfied with what it got. A revision other than the one asked for is accepted when it is one that the relay serves.
 *
 * @throws {RelayFault} `INITIALIZE_FAILED`, `REVISION_UNSUPPORTED`, or why no answer came.
 */
export async function introduce(
  peer: Peer,
  server: string,
  hello: (id: number) => Uint8Array,
  waitMs: number,
): Promise<Introduction> {
  const answer = await askPeer(peer, hello, { silenceMs: waitMs, totalMs: waitMs });
  const { frame, envelope } = answer;
  if (envelope.error !== undefined) {
    const code = readMember(frame, envelope.error, ["code"]);
    const detail = code && `error ${visibleText(String(readScalar(frame, code)))}`;
    throw upstreamGone(server, "INITIALIZE_FAILED", detail);
  }
  return readIntroduction(answer, server);
}

function readIntroduction(answer: OwnAnswer, server: string): Introduction {
  const { frame, envelope } = answer;
  const { result } = envelope;
  const member = (name: string) => result && readMember(frame, result, [name]);
  const version = member("protocolVersion");
  const revision = version && readString(frame, version);
  if (!isLegacyRevision(revision)) {
    const said =
      revision === undefined ? "it named none" : `it answered ${visibleText(JSON.stringify(revision.slice(0, 40)))}`;
    throw upstreamGone(server, "REVISION_UNSUPPORTED", said);
  }
  const capabilities = member("capabilities");
  const isObject = capabilities !== undefined && spanType(frame, capabilities) === "object";
  const instructions = member("instructions");
  return {
    answer,
    revision,
    capabilities: new Set(isObject ? splitObject(frame, capabilities).map(({ key }) => key) : []),
    instructions: instructions && readString(frame, instructions),
  };
}
