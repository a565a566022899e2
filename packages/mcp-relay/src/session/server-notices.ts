import type { Envelope } from "@berth/jsonrpc-framing";
import { allListKinds, listKinds } from "../list-kinds.js";
import type { Child } from "../upstream/child.js";
import { tokenAt } from "./dispatch-call.js";
import type { SessionParts } from "./session-parts.js";

/**
 * A server's notification. All pass as they came, but: progress only for a token of a call that is active on this very server, so that one
 * server cannot speak for another and late progress is quiet; cancellations with their id put right.
 */
export function passNotification(
  { client, requests, upstreams }: SessionParts,
  child: Child,
  frame: Uint8Array,
  envelope: Envelope,
): void {
  const { method, members } = envelope;
  if (method === "notifications/progress") {
    const token = tokenAt(frame, members?.get("progressToken"));
    const id = token === undefined ? undefined : child.progressTokens.get(token);
    if (id === undefined) return;
    child.peer.touch(id);
  }
  if (method === "notifications/cancelled") requests.cancel(child, frame, envelope);
  else {
    noteChange(upstreams, child, method);
    client.send(frame);
  }
}

function noteChange(upstreams: SessionParts["upstreams"], child: Child, method: string | undefined): void {
  const terms = upstreams.find((upstream) => upstream.terms.name === child.server)?.terms;
  for (const kind of allListKinds) {
    const { changedNotification, pinning } = listKinds[kind];
    if (changedNotification !== method) continue;
    child.listings[kind].invalidate();
    // Compared with the pins now, not at the next call: a change is recorded when it happens.
    const isPinned = terms !== undefined && pinning?.pinned(terms.tools) !== undefined;
    if (isPinned) child.listings[kind].refresh();
  }
}
