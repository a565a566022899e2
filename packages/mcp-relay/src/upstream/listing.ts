import type { JudgedList } from "./judge-list.js";
import { createSharedFetch } from "./shared-fetch.js";

/** One list of one child: asked for when needed, and known to be no older than the server's last notice of change. */
export interface Listing {
  /** As last fetched, when no change was announced since; undefined otherwise. */
  readonly fresh: JudgedList | undefined;
  /** As last fetched, whatever was announced since. */
  readonly last: JudgedList | undefined;
  /** `fresh`, or a fetch; calls share one fetch. */
  ensure(): Promise<JudgedList>;
  /** As `ensure`, for nobody in particular: costs nothing when such a fetch is on its way. */
  refresh(): void;
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
    }
  };
  const fetches = createSharedFetch(() => announced, land);
  const fresh = (): JudgedList | undefined => (fetchedAt === announced ? last : undefined);
  const show = async (): Promise<JudgedList> => {
    try {
      if (unseen === undefined) return await fetches.after(announced);
      if ("error" in unseen) throw unseen.error;
      return unseen.list;
    } finally {
      unseen = undefined;
    }
  };

  return {
    show,
    get fresh() {
      return fresh();
    },
    get last() {
      return last;
    },
    ensure() {
      const list = fresh();
      // Bounded: a server that announces changes without end is waited for once, not until it stops.
      return list === undefined ? fetches.after(announced) : Promise.resolve(list);
    },
    refresh() {
      if (fresh() !== undefined || fetches.covers(announced)) return;
      fetches.after(announced).catch(() => undefined); // Calls that need the list get the reason of their own fetch.
    },
    invalidate() {
      announced += 1;
      unseen = undefined;
    },
  };
}
