import {
  type Envelope,
  type EnvelopeId,
  readMember,
  type Span,
  splice,
  type WireError,
  wireErrors,
} from "@berth/jsonrpc-framing";
import { copySpan, encodeText, errorFrame, notificationFrame, replacing, withId } from "../translate.js";
import type { Child } from "../upstream/child.js";
import type { ClientSide } from "./client-side.js";
import { tokenAt } from "./dispatch-call.js";
import { isLong, maxIdBytes } from "./id-length.js";
import { createOpenRequests } from "./open-requests.js";
import type { TaskOwners } from "./task-owners.js";

/**
 * Requests of servers to the client: sampling, elicitation, roots, ping, tasks and what later revisions add. Servers choose their ids and
 * progress tokens without knowing of each other, so both are replaced by the relay's own on the way, and put back on the way home.
 */
export interface ServerRequests {
  /** Passes a server's request to the client. */
  forward(child: Child, frame: Uint8Array, envelope: Envelope): void;
  /** Passes a server's cancellation of its own request; unknown ids are ignored. */
  cancel(child: Child, frame: Uint8Array, envelope: Envelope): void;
  /** Takes the client's answer back; an answer to nothing is ignored. */
  answer(frame: Uint8Array, envelope: Envelope): void;
  /** Takes the client's progress to the server whose request it is about. */
  progress(frame: Uint8Array, envelope: Envelope): void;
  /** The child is gone: its open requests are cancelled at the client. */
  drop(child: Child): void;
}

/** What server requests need. */
export interface ServerRequestsOptions {
  readonly client: ClientSide;
  readonly tasks: TaskOwners;
  readonly maxServerRequests: number;
}

/** None open yet. */
export function createServerRequests({ client, tasks, maxServerRequests }: ServerRequestsOptions): ServerRequests {
  const open = createOpenRequests();
  return {
    forward(child, frame, envelope) {
      const { id } = envelope;
      if (id === undefined) throw new Error("a request has an id");
      const tokenSpan = progressTokenSpan(frame, envelope);
      const refusal = refusalOf(child, id, tokenSpan, maxServerRequests);
      const idBytes = copySpan(frame, id);
      if (refusal !== undefined) return child.peer.send(errorFrame(idBytes, refusal));
      const token = tokenSpan && copySpan(frame, tokenSpan);
      const mayBecomeTask = envelope.members?.has("task") ?? false;
      const own = encodeText(String(open.add({ child, serverId: id.value, idBytes, token, mayBecomeTask })));
      client.send(withId(frame, envelope, own, tokenSpan && [replacing(tokenSpan, own)]));
    },
    cancel(child, frame, { members }) {
      const span = members?.get("requestId");
      const serverId = tokenAt(frame, span);
      const id = serverId === undefined ? undefined : open.idOf(child, serverId);
      const request = open.get(id);
      if (span === undefined || id === undefined || request === undefined) return;
      open.close(id, request);
      client.send(splice(frame, [replacing(span, encodeText(String(id)))]));
    },
    answer(frame, envelope) {
      const id = envelope.id?.value;
      const request = open.get(id);
      if (typeof id !== "number" || request === undefined) return;
      const { child, mayBecomeTask, idBytes } = request;
      open.close(id, request);
      if (mayBecomeTask && tasks.learn(child.server, frame, envelope.result)) open.keepToken(id, request);
      child.peer.send(withId(frame, envelope, idBytes));
    },
    progress(frame, { members }) {
      const span = members?.get("progressToken");
      const request = open.byToken(tokenAt(frame, span));
      if (span === undefined || request?.token === undefined) return;
      request.child.peer.send(splice(frame, [replacing(span, request.token)]));
    },
    drop(child) {
      for (const id of open.dropAll(child)) {
        client.send(notificationFrame("notifications/cancelled", `{"requestId":${id},"reason":"the server is gone"}`));
      }
    },
  };
}

function progressTokenSpan(frame: Uint8Array, { members }: Envelope): Span | undefined {
  const meta = members?.get("_meta");
  return meta && readMember(frame, meta, ["progressToken"]);
}

/** Ids and tokens are kept until the client answers, so their length is bounded as their number is. */
function refusalOf(child: Child, id: EnvelopeId, token: Span | undefined, limit: number): WireError | undefined {
  if (isLong(id) || (token !== undefined && isLong(token)))
    return { code: wireErrors.invalidRequest, message: `an id or progress token over ${maxIdBytes} bytes` };
  if (child.requests.has(id.value))
    return { code: wireErrors.invalidRequest, message: "a request with this id has no answer yet" };
  if (child.requests.size >= limit)
    return { code: wireErrors.internal, message: `more than ${limit} requests without an answer` };
  return undefined;
}
