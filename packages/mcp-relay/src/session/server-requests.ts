import { type Envelope, readMember, splice, wireErrors } from "@berth/jsonrpc-framing";
import { copySpan, encodeText, errorFrame, notificationFrame, replacing, withId } from "../translate.js";
import type { Child } from "../upstream/child.js";
import type { ClientSide } from "./client-side.js";
import { tokenAt } from "./dispatch-call.js";
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

interface OpenRequest {
  readonly child: Child;
  readonly serverId: string | number;
  readonly idBytes: Uint8Array;
  /** The server's own token as written. */
  readonly token: Uint8Array | undefined;
  readonly mayBecomeTask: boolean;
}

/** What server requests need. */
export interface ServerRequestsOptions {
  readonly client: ClientSide;
  readonly tasks: TaskOwners;
  readonly maxServerRequests: number;
}

/** None open yet. */
export function createServerRequests({ client, tasks, maxServerRequests }: ServerRequestsOptions): ServerRequests {
  const open = new Map<number, OpenRequest>();
  /** Progress of requests that became tasks goes on after their answer. */
  const tokens = new Map<number, OpenRequest>();
  let lastId = 0;

  const close = (id: number, request: OpenRequest): void => {
    open.delete(id);
    tokens.delete(id);
    request.child.requests.delete(request.serverId);
  };

  return {
    forward(child, frame, envelope) {
      if (envelope.id === undefined) throw new Error("a request has an id");
      const idBytes = copySpan(frame, envelope.id);
      const refusal = refusalOf(child, envelope.id.value, maxServerRequests);
      if (refusal !== undefined) return child.peer.send(errorFrame(idBytes, refusal));
      lastId += 1;
      const meta = envelope.members?.get("_meta");
      const tokenSpan = meta && readMember(frame, meta, ["progressToken"]);
      const own = encodeText(String(lastId));
      const request = {
        child,
        serverId: envelope.id.value,
        idBytes,
        token: tokenSpan && copySpan(frame, tokenSpan),
        mayBecomeTask: envelope.members?.has("task") ?? false,
      };
      open.set(lastId, request);
      if (tokenSpan !== undefined) tokens.set(lastId, request);
      child.requests.set(request.serverId, lastId);
      client.send(withId(frame, envelope, own, tokenSpan && [replacing(tokenSpan, own)]));
    },
    cancel(child, frame, { members }) {
      const span = members?.get("requestId");
      const serverId = tokenAt(frame, span);
      const id = serverId === undefined ? undefined : child.requests.get(serverId);
      const request = id === undefined ? undefined : open.get(id);
      if (span === undefined || id === undefined || request === undefined) return;
      close(id, request);
      client.send(splice(frame, [replacing(span, encodeText(String(id)))]));
    },
    answer(frame, envelope) {
      const id = envelope.id?.value;
      const request = typeof id === "number" ? open.get(id) : undefined;
      if (typeof id !== "number" || request === undefined) return;
      const { child, mayBecomeTask, token } = request;
      close(id, request);
      const isTask = mayBecomeTask && tasks.learn(child.server, frame, envelope.result);
      if (isTask && token !== undefined) tokens.set(id, request);
      child.peer.send(withId(frame, envelope, request.idBytes));
    },
    progress(frame, { members }) {
      const span = members?.get("progressToken");
      const id = tokenAt(frame, span);
      const request = typeof id === "number" ? tokens.get(id) : undefined;
      if (span === undefined || request?.token === undefined) return;
      request.child.peer.send(splice(frame, [replacing(span, request.token)]));
    },
    drop(child) {
      for (const [id, request] of [...open, ...tokens]) {
        if (request.child.peer !== child.peer) continue;
        const wasOpen = open.has(id);
        close(id, request);
        if (wasOpen)
          client.send(
            notificationFrame("notifications/cancelled", `{"requestId":${id},"reason":"the server is gone"}`),
          );
      }
    },
  };
}

function refusalOf(child: Child, serverId: string | number, limit: number) {
  if (child.requests.has(serverId))
    return { code: wireErrors.invalidRequest, message: "a request with this id has no answer yet" };
  if (child.requests.size >= limit)
    return { code: wireErrors.internal, message: `more than ${limit} requests without an answer` };
  return undefined;
}
