import type { RequestId } from "./message.js";

/** The last few ids of a kind; the oldest is forgotten first. */
export interface RecentIds {
  add(id: RequestId): void;
  has(id: RequestId): boolean;
}

/** See `RecentIds`. A ring beside the set, since finding the oldest entry of a Set takes time linear in its deletions. */
export function createRecentIds(max: number): RecentIds {
  const ids = new Set<RequestId>();
  const ring: RequestId[] = [];
  let next = 0;
  return {
    add(id) {
      if (max === 0) return;
      const oldest = ring[next];
      if (oldest !== undefined) ids.delete(oldest);
      ring[next] = id;
      ids.add(id);
      next = (next + 1) % max;
    },
    has: (id) => ids.has(id),
  };
}
