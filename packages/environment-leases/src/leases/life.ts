import { renewedExpiry } from "../lease.js";

/** What a life is given at its start, in milliseconds from then. */
export interface LifeTerms {
  readonly ttlMs: number;
  readonly ceilingMs: number;
  readonly idleMs?: number | undefined;
}

/**
 * Lifetime and idle time of a lease by the monotonic clock of this process: the guard. While a process holds a lease, its
 * guard alone decides, so that a wall clock that is set never ends a lease early and never lengthens it. The wall clock in
 * the row is for people, and for a later process.
 */
export interface Life {
  /** Why its time is over; undefined while it is not. */
  due(): "hard-limit" | "expired" | "idle" | undefined;
  /** Until it is due if nothing is done. */
  dueInMs(): number;
  /** Until it expires, whatever is done. */
  remainingMs(): number;
  /** Counts as use. Nothing for one that is due. */
  use(): void;
  /** Idle time does not run while it is held; give back what it returns. */
  hold(): () => void;
  /** From now; never shortens, never past the ceiling. Gives what takes it back, for when it could not be written down. */
  renew(ttlMs: number): () => void;
}

export function createLife({ ttlMs, ceilingMs, idleMs }: LifeTerms, now: () => number): Life {
  const ceilingAt = now() + ceilingMs;
  let expiresAt = now() + Math.min(ttlMs, ceilingMs);
  let usedAt = now();
  let holders = 0;
  const idleAt = (): number => (idleMs === undefined || holders > 0 ? Number.POSITIVE_INFINITY : usedAt + idleMs);
  const due: Life["due"] = () => {
    if (expiresAt <= now()) return expiresAt >= ceilingAt ? "hard-limit" : "expired";
    return idleAt() <= now() ? "idle" : undefined;
  };
  const use = (): void => {
    if (due() === undefined) usedAt = now();
  };
  return {
    due,
    dueInMs: () => Math.max(0, Math.min(expiresAt, idleAt()) - now()),
    remainingMs: () => Math.max(0, expiresAt - now()),
    use,
    hold() {
      use();
      holders += 1;
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        usedAt = now();
        holders -= 1;
      };
    },
    renew(ttl) {
      use();
      const before = expiresAt;
      expiresAt = renewedExpiry({ expiresAt, ceilingAt }, now(), ttl);
      return () => {
        expiresAt = before;
      };
    },
  };
}
