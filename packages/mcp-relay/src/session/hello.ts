import { type Envelope, readString, splice, wireErrors } from "@berth/jsonrpc-framing";
import { type LegacyRevision, negotiateRevision } from "@berth/mcp-server/protocol";
import { encodeText, replacing, withId } from "../translate.js";
import { notServed } from "../wire-errors.js";

/** What the client said in `initialize`, passed on to every child as it was said. */
export interface Hello {
  readonly revision: LegacyRevision;
  /** The client's own frame with this id and the revision that was settled on. */
  frame(id: number): Uint8Array;
}

/**
 * Reads a client's `initialize`. A revision that is not served is answered with the newest.
 * @throws {RelayFault} -32602 without a `protocolVersion`.
 */
export function readHello(frame: Uint8Array, envelope: Envelope): Hello {
  const version = envelope.members?.get("protocolVersion");
  const asked = version && readString(frame, version);
  if (version === undefined || asked === undefined) {
    throw notServed(wireErrors.invalidParams, "PARAMS_INVALID", "initialize needs a protocolVersion, a string");
  }
  const revision = negotiateRevision(asked);
  const edits = asked === revision ? [] : [replacing(version, encodeText(JSON.stringify(revision)))];
  const kept = splice(frame, []); // A copy: the chunk that the frame is a view of should not live as long as the session.
  return { revision, frame: (id) => withId(kept, envelope, encodeText(String(id)), edits) };
}
