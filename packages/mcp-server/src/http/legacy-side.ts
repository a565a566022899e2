import { randomBytes as nodeRandomBytes } from "node:crypto";
import { type Message, type RequestMessage, systemScheduler } from "@berth/jsonrpc-framing";
import type { LegacyRevision } from "../revisions.js";
import { type Exchange, HttpRefusal } from "./exchange.js";
import type { Call } from "./legacy/call.js";
import { createDueQueue } from "./legacy/due-queue.js";
import { readSessionBounds } from "./legacy/limits.js";
import type { LegacySideOptions } from "./legacy/options.js";
import type { Outlet } from "./legacy/outlet.js";
import { Session, type SessionSetting } from "./legacy/session.js";
import { createSessionTable } from "./legacy/session-table.js";
import { badRequest, busy, refuse, refuseFault } from "./refusals.js";

/**
 * Sessions of clients that open with `initialize` (MCP 2025-03-26 to 2025-11-25, Transports § Streamable HTTP). Host, origin,
 * principal, content type and body were checked before; so was `Accept` (both types for a POST that holds a request, `text/event-stream` for a GET).
 */
export interface LegacySide<P> {
  /** One message by POST. Answers the exchange itself, also when it refuses. */
  post(exchange: Exchange, message: Message, principal: P): Promise<void>;
  /** The stream for what belongs to no request, or the resumption of one (`last-event-id`). */
  get(exchange: Exchange, principal: P): void;
  /** Ends the session. */
  delete(exchange: Exchange, principal: P): void;
  /** Open sessions. */
  readonly sessionCount: number;
  /** Every request that is open gets an answer; then all is released. */
  close(): Promise<void>;
}

/** The revisions that have Streamable HTTP: all that open with `initialize` but the first. */
const isOverHttp = (revision: LegacyRevision): boolean => revision !== "2024-11-05";
/** 192 random bits: nobody guesses another's session. */
const sessionIdBytes = 24;

/** @throws {RangeError} for a limit out of its range, {TypeError} for one that does not exist. */
export function createLegacySide<P>(options: LegacySideOptions<P>): LegacySide<P> {
  const { server, sessions: { eventStore, limits } = {}, onUnexpectedError, scheduler = systemScheduler } = options;
  const bounds = readSessionBounds(limits);
  const randomBytes = options.randomBytes ?? nodeRandomBytes;
  const revisions = server.revisions.legacy.filter(isOverHttp);
  const table = createSessionTable<P>(bounds, scheduler);
  const starting = createDueQueue<Call>(scheduler, bounds.streamAfterMs, (call) => call.begin());
  const watched = createDueQueue<Outlet>(scheduler, bounds.keepAliveMs, (outlet) => outlet.watch());
  const setting: SessionSetting<P> = {
    server,
    revisions,
    bounds,
    store: eventStore,
    starting,
    watched,
    onUse: table.onUse,
    report: onUnexpectedError,
  };
  let requests = 0;
  let closing: Promise<void> | undefined;

  const checkOpen = (): void => {
    if (closing !== undefined) throw busy("the server is closing");
  };
  /** The session that a request names, if it may be used by whoever sent it. */
  const sessionOf = (exchange: Exchange, principal: P): Session<P> => {
    checkOpen();
    const session = table.find(exchange.header("mcp-session-id"), server.principalId(principal));
    const version = exchange.header("mcp-protocol-version");
    // Any that is served will do, as the official SDK has it: the session keeps to the one that was negotiated.
    if (version === undefined || revisions.some((revision) => revision === version)) return session;
    throw badRequest(400, `mcp-protocol-version is none of ${revisions.join(", ")}`);
  };
  const initialize = async (exchange: Exchange, request: RequestMessage, principal: P): Promise<void> => {
    checkOpen();
    const principalId = server.principalId(principal);
    if (exchange.header("mcp-session-id") !== undefined) {
      table.find(exchange.header("mcp-session-id"), principalId);
      throw badRequest(400, "the session is initialized already");
    }
    table.makeRoom(principalId);
    const id = Buffer.from(randomBytes(sessionIdBytes)).toString("base64url");
    const session = new Session<P>(id, principalId, setting);
    table.add(session);
    let isOpen = false;
    try {
      isOpen = await session.initialize(exchange, request, principal);
    } finally {
      if (!isOpen) await table.end(session, "it never began");
    }
  };
  const serve = async (exchange: Exchange, request: RequestMessage, principal: P): Promise<void> => {
    const session = sessionOf(exchange, principal);
    if (requests >= bounds.maxRequests) throw busy("too many requests are under way");
    if (session.openCalls >= bounds.maxRequestsPerSession) throw busy("too many requests of the session are under way");
    requests += 1;
    try {
      await session.serve(exchange, request, principal);
    } finally {
      requests -= 1;
    }
  };
  /** Answers with what was thrown. */
  const fail = (exchange: Exchange, error: unknown, message?: Message): void => {
    const id = message?.kind === "request" ? message.id : undefined;
    if (error instanceof HttpRefusal) {
      refuse(exchange, error, id);
      return;
    }
    refuseFault(exchange, 500, id);
    onUnexpectedError(error);
  };
  return {
    async post(exchange, message, principal) {
      try {
        if (message.kind !== "request") {
          sessionOf(exchange, principal).take(message, principal);
          exchange.answer(202, {});
        } else if (message.method === "initialize") await initialize(exchange, message, principal);
        else await serve(exchange, message, principal);
      } catch (error) {
        fail(exchange, error, message);
      }
    },
    get(exchange, principal) {
      const listen = async (): Promise<void> =>
        sessionOf(exchange, principal).listen(exchange, exchange.header("last-event-id"));
      listen().catch((error) => fail(exchange, error));
    },
    delete(exchange, principal) {
      try {
        void table.end(sessionOf(exchange, principal), "the session was ended");
        exchange.answer(204, {});
      } catch (error) {
        fail(exchange, error);
      }
    },
    get sessionCount() {
      return table.size;
    },
    close() {
      closing ??= table.close("the server is closing").then(() => {
        starting.close();
        watched.close();
      });
      return closing;
    },
  };
}
