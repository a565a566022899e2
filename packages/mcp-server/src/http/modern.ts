import { type RequestMessage, wireErrors } from "@berth/jsonrpc-framing";
import { modernMetaKeys } from "../era.js";
import { isObject } from "../json.js";
import { internalError, wireError } from "../server/answer.js";
import type { Connection } from "../server/connection.js";
import type { McpServer } from "../server/create-server.js";
import { mcpErrors } from "../wire-errors.js";
import { plainEvent, textOf } from "./events.js";
import type { EventSink, Exchange } from "./exchange.js";
import type { HttpBounds } from "./limits.js";
import type { Accepted } from "./media-types.js";
import type { OpenStreams } from "./open-streams.js";
import { badRequest, busy, errorBody, json } from "./refusals.js";

/** What requests of 2026-07-28 share. */
export interface ModernHost<P> {
  readonly server: McpServer<P>;
  readonly bounds: HttpBounds;
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
}

/**
 * Answers one request of 2026-07-28 (Transports § Streamable HTTP). It has a connection of its own, so that nothing of it meets what other
 * requests carry; the answer is one JSON object, or a stream when something had to be sent before it. One machine over its life, hence its length.
 * @throws {HttpRefusal} 406, 503
 */
export function serveModern<P>(
  { exchange, request, principal, accepted }: ModernRequest<P>,
  host: ModernHost<P>,
): void {
  const isListen = request.method === "subscriptions/listen";
  if (isListen && !accepted.stream) throw badRequest(406, "subscriptions/listen is answered with text/event-stream");
  takePlace(host, isListen);
  let sink: EventSink | undefined;
  let isOver = false;
  let isFarewell = false;

  const openSink = (): EventSink => {
    sink = exchange.openStream();
    host.streams.add(sink);
    return sink;
  };
  const connection = host.server.openConnection({
    send(message, { droppable }) {
      // Over HTTP the end of a stream is its last event: the cancellation notice is for stdio.
      if (isOver || isFarewell || !accepted.stream) return;
      const to = sink ?? openSink();
      if (!droppable || to.queuedBytes <= host.bounds.maxUnreadBytes) to.write(plainEvent(textOf(message)));
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
      isFarewell = true;
      void connection.close({ farewell: true });
    },
    giveUp() {
      deliver(503, errorBody(wireError(wireErrors.internal, "the server is closing"), request.id));
      void connection.close();
    },
  };
  const release = (): void => {
    host.calls.delete(call);
    if (sink !== undefined) host.streams.remove(sink);
    if (isListen) host.listens -= 1;
    else host.inFlight -= 1;
    void connection.close();
    host.settled();
  };
  host.calls.add(call);
  exchange.onGone(() => {
    if (!isOver) cancel(host, connection, request, principal);
  });
  const headers = (name: string): string | undefined => exchange.header(name);
  const answered = host.server.handleMessage(request, { principal, connection, headers }).then(
    (answer) => {
      if (answer === undefined) call.giveUp();
      else deliver(statusOf(answer.errorCode, request), answer.body);
    },
    (error) => {
      host.unexpected(error, request.method);
      deliver(200, errorBody(internalError, request.id));
    },
  );
  answered.finally(release).catch((error) => host.unexpected(error, "an answer"));
}

function takePlace<P>(host: ModernHost<P>, isListen: boolean): void {
  if (isListen) {
    if (host.listens >= host.bounds.maxListens) throw busy("too many subscriptions are open");
    host.listens += 1;
    return;
  }
  if (host.inFlight >= host.bounds.maxInFlight) throw busy("too many requests are worked on");
  host.inFlight += 1;
}

/** A client that goes away cancels its request: in this revision, and by no other way (MCP 2026-07-28, Cancellation). */
function cancel<P>({ server }: ModernHost<P>, connection: Connection, { id }: RequestMessage, principal: P): void {
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
function statusOf(errorCode: number | undefined, request: RequestMessage): number {
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
      return hasMeta(request) ? 200 : 400;
    default:
      return 200;
  }
}

function hasMeta({ params }: RequestMessage): boolean {
  const meta = isObject(params) ? params["_meta"] : undefined;
  if (!isObject(meta)) return false;
  return typeof meta[modernMetaKeys.protocolVersion] === "string" && isObject(meta[modernMetaKeys.clientCapabilities]);
}
