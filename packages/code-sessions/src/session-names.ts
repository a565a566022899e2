import { SessionError } from "./errors.js";
import type { Session } from "./session.js";
import type { SessionTerms } from "./session-terms.js";

/** Living sessions by owner and name, and the names that are being started. */
export interface SessionNames {
  /**
   * Holds a name, and a place under both caps, for a session that is being started.
   * @throws {SessionError} `SESSION_EXISTS`, `SESSION_LIMIT_REACHED`.
   */
  claim(owner: string, id: string): NameClaim;
  /** Undefined also for one that is being started. */
  find(owner: string, id: string): Session | undefined;
  isTaken(owner: string, id: string): boolean;
  /** Sorted by id. */
  of(owner: string): readonly Session[];
  all(): readonly Session[];
  readonly size: number;
}

export interface NameClaim {
  /** From now on it is found. */
  fill(session: Session): void;
  /** The name is free again. Once is enough; a later session of this name is not touched. */
  free(): void;
}

interface Place {
  session: Session | undefined;
}

export function createSessionNames({
  maxSessions,
  maxTotalSessions,
}: Pick<SessionTerms, "maxSessions" | "maxTotalSessions">): SessionNames {
  const owners = new Map<string, Map<string, Place>>();
  let size = 0;

  const free = (owner: string, id: string, place: Place): void => {
    const places = owners.get(owner);
    if (places?.get(id) !== place) return;
    size -= 1;
    places.delete(id);
    if (places.size === 0) owners.delete(owner);
  };
  /** A session that has ended a moment ago holds nothing, though its end may not have been told yet. */
  const living = (owner: string, id: string): Place | undefined => {
    const place = owners.get(owner)?.get(id);
    if (place?.session === undefined || place.session.status().state === "active") return place;
    free(owner, id, place);
    return undefined;
  };
  const clear = (owner: string): void => {
    for (const id of [...(owners.get(owner)?.keys() ?? [])]) living(owner, id);
  };
  const held = (owner: string): number => owners.get(owner)?.size ?? 0;
  /** The owner's own cap first: while the total is not reached, no other owner's sessions change an answer. */
  const refuseOver = (owner: string): void => {
    if (held(owner) >= maxSessions) clear(owner);
    if (held(owner) >= maxSessions) {
      throw new SessionError("SESSION_LIMIT_REACHED", `no more than ${maxSessions} sessions at once`, {
        cure: "stop a session first",
      });
    }
    if (size >= maxTotalSessions) [...owners.keys()].forEach(clear);
    if (size < maxTotalSessions) return;
    throw new SessionError("SESSION_LIMIT_REACHED", `no more than ${maxTotalSessions} sessions of all owners at once`, {
      cure: "try again later, or ask the operator to raise maxTotalSessions",
    });
  };
  const of = (owner: string): readonly Session[] => {
    const found: Session[] = [];
    for (const id of [...(owners.get(owner)?.keys() ?? [])].sort()) {
      const session = living(owner, id)?.session;
      if (session !== undefined) found.push(session);
    }
    return found;
  };
  return {
    claim(owner, id) {
      if (living(owner, id) !== undefined) {
        throw new SessionError("SESSION_EXISTS", `there is a session '${id}'; stop it first, or use another id`);
      }
      refuseOver(owner);
      const place: Place = { session: undefined };
      const places = owners.get(owner) ?? new Map<string, Place>();
      owners.set(owner, places);
      places.set(id, place);
      size += 1;
      return {
        fill(session) {
          place.session = session;
        },
        free: () => free(owner, id, place),
      };
    },
    find: (owner, id) => living(owner, id)?.session,
    isTaken: (owner, id) => living(owner, id) !== undefined,
    of,
    all: () => [...owners.keys()].sort().flatMap(of),
    get size() {
      return size;
    },
  };
}
