import type { JudgedList } from "./judge-list.js";

/** One list of one child: asked for when needed, and known to be no older than the server's last notice of change. */
export interface Listing {
  /** As last fetched, when no change was announced since; undefined otherwise. */
  readonly fresh: JudgedList | undefined;
  /** As last fetched, whatever was announced since. */
  readonly last: JudgedList | undefined;
  /** `fresh`, or a fetch; calls share one fetch. */
  ensure(): Promise<JudgedList>;
  /** What a client's own list request gets: a fetch, except right after one that was made for another reason and never shown. */
  show(): Promise<JudgedList>;
  /** The server announced a change. */
  invalidate(): void;
}

/** A listing over a function that fetches and judges. */
export function createListing(fetch: () => Promise<JudgedList>): Listing {
  let last: JudgedList | undefined;
  let announced = 0;
  let fetchedAt = -1;
  /** How the last fetch ended that no client has seen yet. */
  let unseen: { readonly list: JudgedList } | { readonly error: unknown } | undefined;
  let flight: { readonly startedAt: number; readonly done: Promise<JudgedList> } | undefined;

  const start = (): Promise<JudgedList> => {
    const startedAt = announced;
    const done = land(startedAt);
    flight = { startedAt, done };
    return done;
  };

  const land = async (startedAt: number): Promise<JudgedList> => {
    try {
      const list = await fetch();
      last = list;
      fetchedAt = startedAt;
      unseen = { list };
      return list;
    } catch (error) {
      unseen = { error };
      throw error;
    } finally {
      flight = undefined;
    }
  };

  /** Shares a fetch that began after the last announcement; waits for an older one to end before asking again. */
  const fetchAfter = async (announcement: number): Promise<JudgedList> => {
    if (flight === undefined) return start();
    if (flight.startedAt >= announcement) return flight.done;
    await flight.done.catch(() => undefined);
    return fetchAfter(announcement);
  };

  const fresh = (): JudgedList | undefined => (fetchedAt === announced ? last : undefined);

  return {
    get fresh() {
      return fresh();
    },
    get last() {
      return last;
    },
    ensure() {
      const list = fresh();
      // Bounded: a server that announces changes without end is waited for once, not until it stops.
      return list === undefined ? fetchAfter(announced) : Promise.resolve(list);
    },
    async show() {
      try {
        if (unseen === undefined) return await fetchAfter(announced);
        if ("error" in unseen) throw unseen.error;
        return unseen.list;
      } finally {
        unseen = undefined;
      }
    },
    invalidate() {
      announced += 1;
      unseen = undefined;
    },
  };
}
