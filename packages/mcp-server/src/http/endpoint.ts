import type { Message, RequestId, RequestMessage } from "@berth/jsonrpc-framing";
import type { ServedRevisions } from "../era.js";
import { within } from "../within.js";
import { admit } from "./admit.js";
import { holdBody } from "./body.js";
import { documentServer } from "./documents.js";
import type { Exchange } from "./exchange.js";
import type { LegacySide } from "./legacy-side.js";
import { type Accepted, readAccept } from "./media-types.js";
import { type ModernHost, serveModern } from "./modern.js";
import { createOpenStreams } from "./open-streams.js";
import { defaultPath, type HttpHandlerOptions } from "./options.js";
import { allowedHeaders, createOriginCheck } from "./origin.js";
import { checkPost, parseBody } from "./receive.js";
import { badRequest, busy, closing, refuseWith } from "./refusals.js";
import { routeMessage } from "./route-message.js";
import type { ServedExchange, Surroundings } from "./served-exchange.js";

/** All rules of the endpoint, whatever carries the exchanges. */
export interface Endpoint {
  /** Answers the exchange, always. Never throws. */
  serve(exchange: ServedExchange): void;
  readonly sessionCount: number;
  close(): Promise<void>;
}

/** What an endpoint needs beside its options. */
export interface EndpointParts<P> {
  readonly around: Surroundings;
  /** As served over HTTP. */
  readonly revisions: ServedRevisions;
  /** Undefined where no revision with sessions is served. */
  readonly legacy: LegacySide<P> | undefined;
  /** Tells of what threw that is no answer. Does not throw. */
  unexpected(error: unknown, where: string): void;
  /** Tells the operator. Does not throw. */
  note(text: string): void;
}

/** One message by POST and what is known of it. */
interface Incoming<P> {
  readonly exchange: ServedExchange;
  readonly message: Message;
  readonly principal: P;
  readonly accepted: Accepted;
  /** Of its body. */
  readonly bytes: number;
}

/** One machine over the ways that a request can take, hence its length. */
export function createEndpoint<P>(options: HttpHandlerOptions<P>, parts: EndpointParts<P>): Endpoint {
  const { around, revisions, legacy } = parts;
  const { bounds } = around;
  const { path = defaultPath, server } = options;
  const origins = createOriginCheck(options, parts.note);
  const serveDocument = documentServer(options.admitter?.documents);
  const methods = legacy === undefined ? ["POST"] : ["POST", "GET", "DELETE"];
  const allow = methods.join(", ");
  let reading = 0;
  let legacyOpen = 0;
  let isClosing = false;
  let onIdle: (() => void) | undefined;

  const settled = (): void => {
    if (host.calls.size === 0 && legacyOpen === 0) onIdle?.();
  };
  const host: ModernHost<P> = {
    server,
    around,
    streams: createOpenStreams(bounds),
    calls: new Set(),
    inFlight: 0,
    listens: 0,
    unexpected: parts.unexpected,
    settled,
  };

  const refused = (exchange: Exchange, error: unknown, id?: RequestId): void => {
    refuseWith(exchange, error, id, (fault) => parts.unexpected(fault, `${exchange.method} of the endpoint`));
  };
  const postLegacy = async (
    { exchange, message, principal, accepted, bytes }: Incoming<P>,
    to: LegacySide<P>,
  ): Promise<void> => {
    if (message.kind === "request" && !(accepted.json && accepted.stream)) {
      throw badRequest(406, "accept both application/json and text/event-stream");
    }
    const onEnded = holdBody(message.kind === "request" ? bytes : 0, around);
    legacyOpen += 1;
    try {
      await to.post(exchange, message, principal);
    } finally {
      onEnded();
      legacyOpen -= 1;
      settled();
    }
  };
  const postModern = ({ exchange, principal, accepted, bytes }: Incoming<P>, request: RequestMessage): void => {
    // A listen request is bounded by itself, and lets go of its body.
    const onEnded = holdBody(request.method === "subscriptions/listen" ? 0 : bytes, around);
    try {
      serveModern({ exchange, request, principal, accepted, onEnded }, host);
    } catch (error) {
      onEnded();
      throw error;
    }
  };
  const checkRoom = (): void => {
    if (isClosing) throw closing();
    if (around.unsentBytes > bounds.maxUnsentBytes) throw busy("too much waits to be read by clients");
  };
  const dispatch = async (incoming: Incoming<P>): Promise<void> => {
    const { exchange, message } = incoming;
    // Answers of clients and their notifications may be what those under way wait for.
    if (message.kind === "request") checkRoom();
    const route = routeMessage(message, exchange.header("mcp-protocol-version"), revisions);
    if (route === "modern-notification") exchange.answer(202, {});
    else if (route === "legacy" && legacy !== undefined) await postLegacy(incoming, legacy);
    else if (message.kind === "request") postModern(incoming, message);
  };
  const post = async (exchange: ServedExchange, principal: P): Promise<void> => {
    const accepted = checkPost(exchange);
    const body = await exchange.readBody(bounds.maxBodyBytes);
    const parsed = parseBody(body);
    if ("refusal" in parsed) return refused(exchange, parsed.refusal, parsed.id);
    const { message } = parsed;
    // Not awaited: what comes from here on is no longer reading.
    dispatch({ exchange, message, principal, accepted, bytes: body.length }).catch((error) =>
      refused(exchange, error, message.kind === "request" ? message.id : undefined),
    );
  };
  const enter = async (exchange: ServedExchange): Promise<void> => {
    if (reading >= bounds.maxReading) throw busy("too many requests are being read");
    reading += 1;
    try {
      const { principal } = options.admitter === undefined ? options : await admit(options.admitter, exchange);
      if (exchange.isGone) return;
      if (exchange.method === "POST") return await post(exchange, principal);
      if (exchange.method === "DELETE" && !isClosing) return legacy?.delete(exchange, principal);
      checkRoom();
      const { stream } = readAccept(exchange.header("accept"));
      if (!stream) throw badRequest(406, "what is sent here is text/event-stream");
      // Not awaited, as above.
      legacy?.get(exchange, principal).catch((error) => refused(exchange, error));
    } finally {
      reading -= 1;
    }
  };
  const serve = async (exchange: ServedExchange): Promise<void> => {
    exchange.common = origins.check(exchange);
    if (exchange.method === "OPTIONS") return preflight(exchange);
    if (exchange.path !== path) return serveDocument(exchange);
    if (!methods.includes(exchange.method)) throw badRequest(405, `only ${allow}`, { allow });
    await enter(exchange);
  };
  const preflight = (exchange: ServedExchange): void => {
    const asked = exchange.header("access-control-request-headers");
    const leave = { ...origins.preflight, "access-control-allow-headers": allowedHeaders(asked) };
    exchange.answer(204, exchange.header("origin") === undefined ? { allow } : leave);
  };
  const end = async (): Promise<void> => {
    isClosing = true;
    for (const call of [...host.calls]) call.farewell();
    await within(
      bounds.drainMs,
      new Promise<void>((resolve) => {
        onIdle = resolve;
        settled();
      }),
    );
    for (const call of [...host.calls]) call.giveUp();
    await legacy?.close();
  };
  let ended: Promise<void> | undefined;
  return {
    serve(exchange) {
      const fault = (error: unknown): void => refused(exchange, error);
      // Twice: an admitter's refusal may hold what is no header.
      void serve(exchange).catch(fault).catch(fault);
    },
    get sessionCount() {
      return legacy?.sessionCount ?? 0;
    },
    close: () => (ended ??= end()),
  };
}
