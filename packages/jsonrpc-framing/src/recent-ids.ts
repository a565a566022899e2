import type { RequestId } from "./message.js";

/** The last few ids of a kind; the oldest is forgotten first. */
export interface RecentIds {
  add(id: RequestId): void;
  has(id: RequestId): boolean;
}

/** See `RecentIds`. A ring without an index: each call adds an id, only a late or foreign answer looks one up. */
export function createRecentIds(max: number): RecentIds {
  const ring: RequestId[] = [];
  let next = 0;
  return {
    add(id) {
      if (max === 0) return;
      ring[next] = id;
      next = next + 1 === max ? 0 : next + 1;
    },
    has: (id) => ring.includes(id),
  };
}
