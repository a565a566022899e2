import type { RequestMessage } from "@berth/jsonrpc-framing";
import type { Exchange } from "../exchange.js";
import { badRequest, busy } from "../refusals.js";
import { Session, type SessionSetting } from "./session.js";
import type { SessionTable } from "./session-table.js";

/** Leads requests to their sessions, and bounds what is under way. What it throws is the answer, if it is an HttpRefusal. */
export interface Entrance<P> {
  /**
   * The session that a request names.
   * @throws {HttpRefusal} 400, 404, as `SessionTable.find`; 400 for a revision that is not served.
   */
  find(exchange: Exchange, principal: P): Session<P>;
  /**
   * Opens a session.
   * @throws {HttpRefusal} 400 or 404 for one that names a session; 503 when there is no room.
   */
  initialize(exchange: Exchange, request: RequestMessage, principal: P): Promise<void>;
  /**
   * Has a request answered by its session.
   * @throws {HttpRefusal} as `find`; 503 when too many are under way.
   */
  serve(exchange: Exchange, request: RequestMessage, principal: P): Promise<void>;
}

/** 192 random bits: nobody guesses another's session. */
const sessionIdBytes = 24;

export function createEntrance<P>(
  setting: SessionSetting<P>,
  table: SessionTable<P>,
  randomBytes: (size: number) => Uint8Array,
): Entrance<P> {
  const { server, revisions, bounds } = setting;
  let requests = 0;

  const find: Entrance<P>["find"] = (exchange, principal) => {
    const session = table.find(exchange.header("mcp-session-id"), server.principalId(principal));
    const version = exchange.header("mcp-protocol-version");
    // Any that is served will do, as the official SDK has it: the session keeps to the one that was negotiated.
    if (version === undefined || revisions.some((revision) => revision === version)) return session;
    throw badRequest(400, `mcp-protocol-version is none of ${revisions.join(", ")}`);
  };
  return {
    find,
    async initialize(exchange, request, principal) {
      if (exchange.header("mcp-session-id") !== undefined) {
        find(exchange, principal);
        throw badRequest(400, "the session is initialized already");
      }
      const principalId = server.principalId(principal);
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
    },
    async serve(exchange, request, principal) {
      const session = find(exchange, principal);
      if (requests >= bounds.maxRequests) throw busy("too many requests are under way");
      if (session.openCalls >= bounds.maxRequestsPerSession) {
        throw busy("too many requests of the session are under way");
      }
      requests += 1;
      try {
        await session.serve(exchange, request, principal);
      } finally {
        requests -= 1;
      }
    },
  };
}
