import { type RequestId, type RequestMessage, wireErrors } from "@berth/jsonrpc-framing";
import { modernMetaKeys } from "../era.js";
import { isObject } from "../json.js";
import { metaOf } from "../request-meta.js";
import { internalError, wireError } from "../server/answer.js";
import type { Connection } from "../server/connection.js";
import type { McpServer } from "../server/create-server.js";
import { mcpErrors } from "../wire-errors.js";
import { plainEvent, textOf } from "./events.js";
import type { EventSink, Exchange } from "./exchange.js";
import type { Accepted } from "./media-types.js";
import type { OpenStreams } from "./open-streams.js";
import { badRequest, busy, errorBody, json } from "./refusals.js";
import type { Surroundings } from "./served-exchange.js";

/** What requests of 2026-07-28 share. */
export interface ModernHost<P> {
  readonly server: McpServer<P>;
  readonly around: Surroundings;
  readonly streams: OpenStreams;
  readonly calls: Set<OpenCall>;
  /** Requests that are worked on. */
  inFlight: number;
  /** Open `subscriptions/listen` requests. */
  listens: number;
  /** Told what a handler threw that is no answer. */
  unexpected(error: unknown, method: string): void;
  /** Told after each request that ends. */
  settled(): void;
}

/** A request that has no answer yet. */
export interface OpenCall {
  /** Ends a listen request as the specification says: with its result. Does nothing to others. */
  farewell(): void;
  /** Answers it in its handler's stead, which is aborted. */
  giveUp(): void;
}

/** A request of 2026-07-28 and whom it is from. */
export interface ModernRequest<P> {
  readonly exchange: Exchange;
  readonly request: RequestMessage;
  readonly principal: P;
  readonly accepted: Accepted;
  /** Called when it is no longer worked on. */
  readonly onEnded: () => void;
}

/**
 * Answers one request of 2026-07-28 (Transports § Streamable HTTP). It has a connection of its own, so that nothing of it meets what other
 * requests carry; the answer is one JSON object, or a stream when something had to be sent before it. One machine over its life, hence its length. It does not hold the
 * request itself: a listen request that is open for days needs next to nothing of it.
 * @throws {HttpRefusal} 406, 503
 */
export function serveModern<P>(
  { exchange, request, principal, accepted, onEnded }: ModernRequest<P>,
  host: ModernHost<P>,
): void {
  const { id, method } = request;
  const isComplete = hasMeta(request);
  const isListen = method === "subscriptions/listen";
  if (isListen && !accepted.stream) throw badRequest(406, "subscriptions/listen is answered with text/event-stream");
  takePlace(host, isListen);
  let sink: EventSink | undefined;
  let isOver = false;

  const openSink = (): EventSink => {
    sink = exchange.openStream();
    host.streams.add(sink);
    return sink;
  };
  const connection = host.server.openConnection({
    send(message, { droppable }) {
      if (isOver || !accepted.stream) return;
      const to = sink ?? openSink();
      if (!isBehind(to, host.around)) to.write(plainEvent(textOf(message)));
      else if (!droppable) to.abort();
    },
  });
  const deliver = (status: number, body: string | Uint8Array): void => {
    if (isOver) return;
    isOver = true;
    const to = sink ?? (status === 200 && !accepted.json ? openSink() : undefined);
    if (to === undefined) exchange.answer(status, json, body);
    else {
      to.write(plainEvent(textOf(body)));
      to.end();
    }
  };
  const call: OpenCall = {
    farewell() {
      if (!isListen) return;
      void connection.close({ farewell: true });
    },
    giveUp() {
      deliver(503, errorBody(wireError(wireErrors.internal, "the server is closing"), id));
      void connection.close();
    },
  };
  const release = (): void => {
    host.calls.delete(call);
    onEnded();
    if (sink !== undefined) host.streams.remove(sink);
    if (isListen) host.listens -= 1;
    else host.inFlight -= 1;
    void connection.close();
    host.settled();
  };
  host.calls.add(call);
  exchange.onGone(() => {
    if (!isOver) cancel(host, connection, id, principal);
  });
  const headers = (name: string): string | undefined => exchange.header(name);
  const answered = host.server.handleMessage(request, { principal, connection, headers }).then(
    (answer) => {
      if (answer === undefined) call.giveUp();
      else deliver(statusOf(answer.errorCode, isComplete), answer.body);
    },
    (error) => {
      host.unexpected(error, method);
      deliver(200, errorBody(internalError, id));
    },
  );
  answered.finally(release).catch((error) => host.unexpected(error, "an answer"));
}

/** Whether a client does not keep up: with its own stream, or with anything of it while too much waits in all. */
function isBehind({ queuedBytes }: EventSink, { bounds, unsentBytes }: Surroundings): boolean {
  return queuedBytes > bounds.maxUnreadBytes || (queuedBytes > 0 && unsentBytes > bounds.maxUnsentBytes);
}

function takePlace<P>(host: ModernHost<P>, isListen: boolean): void {
  const { bounds, leaving } = host.around;
  if (isListen) {
    if (host.listens >= bounds.maxListens) throw busy("too many subscriptions are open");
    host.listens += 1;
    return;
  }
  if (host.inFlight + leaving >= bounds.maxInFlight) throw busy("too many requests are worked on");
  host.inFlight += 1;
}

/** A client that goes away cancels its request: in this revision, and by no other way (MCP 2026-07-28, Cancellation). */
function cancel<P>({ server }: ModernHost<P>, connection: Connection, id: RequestId, principal: P): void {
  const params = { requestId: id, reason: "the client is gone" };
  const method = "notifications/cancelled";
  void server.handleMessage(
    { kind: "notification", method, params, value: { jsonrpc: "2.0", method, params } },
    { principal, connection },
  );
}

/**
 * The HTTP status of an answer (MCP 2026-07-28, Base protocol § Error codes). Whatever a tool or a handler answers is an ordinary answer,
 * and so is -32602, but for parameters that every request needs.
 */
function statusOf(errorCode: number | undefined, isComplete: boolean): number {
  switch (errorCode) {
    case undefined:
      return 200;
    case wireErrors.methodNotFound:
      return 404;
    case mcpErrors.headerMismatch:
    case mcpErrors.missingRequiredClientCapability:
    case mcpErrors.unsupportedProtocolVersion:
      return 400;
    case wireErrors.invalidParams:
      return isComplete ? 200 : 400;
    default:
      return 200;
  }
}

/** Whether it has what every request needs. */
function hasMeta({ params }: RequestMessage): boolean {
  const meta = metaOf(params);
  return typeof meta[modernMetaKeys.protocolVersion] === "string" && isObject(meta[modernMetaKeys.clientCapabilities]);
}
