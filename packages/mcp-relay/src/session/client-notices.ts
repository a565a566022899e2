import { type Envelope, readScalar, readString } from "@berth/jsonrpc-framing";
import type { SessionParts } from "./session-parts.js";

/** A client's notification: to the server that it is about, or to all that run. */
export function takeNotification(
  { calls, requests, tasks, upstreams }: SessionParts,
  frame: Uint8Array,
  envelope: Envelope,
): void {
  const { method, members } = envelope;
  // Each child gets its own when its handshake is done.
  if (method === "notifications/initialized") return;
  if (method === "notifications/progress") requests.progress(frame, envelope);
  else if (method === "notifications/cancelled") {
    const span = members?.get("requestId");
    calls.cancel(span && readScalar(frame, span), frame, envelope);
  } else broadcast(tasks, upstreams, frame, envelope);
}

function broadcast(
  tasks: SessionParts["tasks"],
  upstreams: SessionParts["upstreams"],
  frame: Uint8Array,
  { method, members }: Envelope,
): void {
  const taskSpan = method === "notifications/tasks/status" ? members?.get("taskId") : undefined;
  const taskId = taskSpan && readString(frame, taskSpan);
  const owner = taskId === undefined ? undefined : tasks.owner(taskId);
  for (const { live, terms } of upstreams) {
    if (live !== undefined && (owner === undefined || owner === terms.name)) live.peer.send(frame);
  }
}
