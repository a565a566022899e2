import type { Scheduler } from "@berth/jsonrpc-framing";
import { badRequest, busy } from "../refusals.js";
import { createDueQueue } from "./due-queue.js";
import type { SessionBounds } from "./limits.js";
import type { Session } from "./session.js";

/** The open sessions: found by id and principal, counted, and ended when they lie idle. */
export interface SessionTable<P> {
  readonly size: number;
  /** @throws {HttpRefusal} 503 when there is no room, and none can be made. */
  makeRoom(principalId: string): void;
  add(session: Session<P>): void;
  /** @throws {HttpRefusal} 400 without an id, 404 for one that is unknown, over, or another principal's. */
  find(id: string | undefined, principalId: string): Session<P>;
  /** To be told whenever a session became busy or idle. */
  onUse(session: Session<P>): void;
  end(session: Session<P>, reason: string): Promise<void>;
  /** Ends all. */
  close(reason: string): Promise<void>;
}

export function createSessionTable<P>(bounds: SessionBounds, scheduler: Scheduler): SessionTable<P> {
  const sessions = new Map<string, Session<P>>();
  const byPrincipal = new Map<string, Set<Session<P>>>();
  const idle = createDueQueue<Session<P>>(
    scheduler,
    bounds.idleMs,
    (session) => void end(session, "the session lay idle"),
  );

  const end = (session: Session<P>, reason: string): Promise<void> => {
    sessions.delete(session.id);
    idle.delete(session);
    const own = byPrincipal.get(session.principalId);
    own?.delete(session);
    if (own?.size === 0) byPrincipal.delete(session.principalId);
    return session.end(reason);
  };
  const onUse = (session: Session<P>): void => {
    if (session.isEnded) return;
    if (session.isBusy) {
      idle.delete(session);
      return;
    }
    idle.touch(session);
    const own = byPrincipal.get(session.principalId);
    own?.delete(session);
    own?.add(session);
  };
  return {
    get size() {
      return sessions.size;
    },
    makeRoom(principalId) {
      const own = byPrincipal.get(principalId);
      if (own !== undefined && own.size >= bounds.maxSessionsPerPrincipal) {
        const longest = longestIdle(own);
        if (longest === undefined) throw busy("all sessions that you may have are in use");
        void end(longest, "the session made room for a newer one");
      }
      if (sessions.size >= bounds.maxSessions) throw busy("there are too many sessions");
    },
    add(session) {
      sessions.set(session.id, session);
      const own = byPrincipal.get(session.principalId);
      if (own === undefined) byPrincipal.set(session.principalId, new Set([session]));
      else own.add(session);
      onUse(session);
    },
    find: (id, principalId) => findIn(sessions, id, principalId),
    onUse,
    end,
    async close(reason) {
      await Promise.all([...sessions.values()].map((session) => end(session, reason)));
      idle.close();
    },
  };
}

function findIn<P>(sessions: ReadonlyMap<string, Session<P>>, id: string | undefined, principalId: string): Session<P> {
  if (id === undefined) throw badRequest(400, "the header mcp-session-id is needed");
  const session = sessions.get(id);
  // Whose a session is, and whether there is one, is nobody else's business.
  if (session?.principalId !== principalId) throw badRequest(404, "there is no such session");
  return session;
}

/** The newest use is last in it, as `onUse` keeps them. */
function longestIdle<P>(own: ReadonlySet<Session<P>>): Session<P> | undefined {
  for (const session of own) if (!session.isBusy) return session;
  return undefined;
}
