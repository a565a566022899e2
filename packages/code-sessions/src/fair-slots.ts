import { SessionError } from "./errors.js";

/**
 * A bounded number of places, and a bounded queue in which owners take turns. Once two owners have come, the last place is
 * kept for one that has none: nobody's long calls keep everybody else out. Half of the queue is the most that one owner
 * has: nobody fills it alone, nor sees by a refusal that another one has come. One machine over both, hence its length.
 */
export interface FairSlots {
  /**
   * Resolves with what gives the place back.
   * @throws {SessionError} `SESSIONS_BUSY` when the owner has half of the queue, or the queue is full and no other owner has more of
   * it; else the last that came of whoever has most is refused so. An abort rejects with the signal's reason.
   */
  enter(owner: string, signal: AbortSignal | undefined): Promise<() => void>;
  counts(): { readonly running: number; readonly queued: number };
  /** All that wait are refused, and all that come. */
  close(reason: unknown): void;
}

interface Waiting {
  readonly admit: () => void;
  readonly refuse: (reason: unknown) => void;
}

export function createFairSlots({ places, queue }: { readonly places: number; readonly queue: number }): FairSlots {
  const share = Math.max(1, Math.floor(queue / 2));
  // In the order in which owners are served next: who was served goes to the end.
  const lines = new Map<string, Set<Waiting>>();
  const held = new Map<string, number>();
  let first: string | undefined;
  let isShared = false;
  let running = 0;
  let queued = 0;
  let closed: { readonly reason: unknown } | undefined;

  const leave = (owner: string, waiting: Waiting): boolean => {
    const line = lines.get(owner);
    if (line?.delete(waiting) !== true) return false;
    queued -= 1;
    if (line.size === 0) lines.delete(owner);
    return true;
  };
  const mayEnter = (owner: string): boolean => {
    const isLast = running === places - 1 && places > 1 && isShared;
    return running < places && !(isLast && held.has(owner));
  };
  const admitNext = (): void => {
    for (const [owner, line] of lines) {
      if (!mayEnter(owner)) continue;
      for (const waiting of line) {
        leave(owner, waiting);
        if (lines.delete(owner)) lines.set(owner, line);
        waiting.admit();
        return;
      }
    }
  };
  const place = (owner: string): (() => void) => {
    running += 1;
    held.set(owner, (held.get(owner) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      running -= 1;
      const left = (held.get(owner) ?? 0) - 1;
      if (left > 0) held.set(owner, left);
      else held.delete(owner);
      admitNext();
    };
  };
  const line = (owner: string): Set<Waiting> => {
    const known = lines.get(owner) ?? new Set<Waiting>();
    lines.set(owner, known);
    return known;
  };
  const busy = (most: string): SessionError =>
    new SessionError("SESSIONS_BUSY", `no more than ${most} wait at once`, {
      cure: "try again when some have ended, or use a session",
    });
  const full = (): SessionError => busy(`${queue} session-less calls`);
  /** A full queue is shared: whoever has most of it gives up its last call, which has not begun, to an owner with less. */
  const makeRoom = (owner: string): boolean => {
    let largest: readonly [string, Set<Waiting>] | undefined;
    for (const entry of lines) if (entry[1].size > (largest?.[1].size ?? 0)) largest = entry;
    if (largest === undefined || largest[1].size <= (lines.get(owner)?.size ?? 0) + 1) return false;
    const last = [...largest[1]].at(-1);
    if (last === undefined || !leave(largest[0], last)) return false;
    last.refuse(full());
    return true;
  };
  return {
    async enter(owner, signal) {
      signal?.throwIfAborted();
      if (closed !== undefined) throw closed.reason;
      isShared ||= first !== undefined && first !== owner;
      first ??= owner;
      if (mayEnter(owner)) return place(owner);
      if ((lines.get(owner)?.size ?? 0) >= share) throw busy(`${share} session-less calls of one owner`);
      if (queued >= queue && !makeRoom(owner)) throw full();
      queued += 1;
      return new Promise((resolve, reject) => {
        const onAbort = (): void => {
          if (leave(owner, waiting)) waiting.refuse(signal?.reason);
        };
        const settled = (): void => signal?.removeEventListener("abort", onAbort);
        const waiting: Waiting = {
          admit() {
            settled();
            resolve(place(owner));
          },
          refuse(reason) {
            settled();
            reject(reason);
          },
        };
        line(owner).add(waiting);
        signal?.addEventListener("abort", onAbort, { once: true });
      });
    },
    counts: () => ({ running, queued }),
    close(reason) {
      closed = { reason };
      for (const [owner, waitings] of [...lines]) {
        for (const waiting of [...waitings]) if (leave(owner, waiting)) waiting.refuse(reason);
      }
    },
  };
}
