import type { ListKind } from "../list-kinds.js";

/**
 * Which server offers which name, as far as it was seen in this session. It outlives children: a name of a server that is down still
 * belongs to it, so that losing a child never moves a name to another server.
 */
export interface Offers {
  /** Replaces what this server offers of this kind. */
  note(server: string, kind: ListKind, names: Iterable<string>): void;
  /** Whether a list of this kind was ever seen from this server. */
  seen(server: string, kind: ListKind): boolean;
  has(server: string, kind: ListKind, name: string): boolean;
  names(server: string, kind: ListKind): ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();

/** Nothing seen yet. */
export function createOffers(): Offers {
  const offers = new Map<string, ReadonlySet<string>>();
  const key = (server: string, kind: ListKind): string => `${kind} ${server}`;
  return {
    note: (server, kind, names) => void offers.set(key(server, kind), new Set(names)),
    seen: (server, kind) => offers.has(key(server, kind)),
    has: (server, kind, name) => offers.get(key(server, kind))?.has(name) ?? false,
    names: (server, kind) => offers.get(key(server, kind)) ?? none,
  };
}
