import { SessionError } from "./errors.js";

/** A bounded number of places, and a bounded queue in which owners take turns. */
export interface FairSlots {
  /**
   * Resolves with what gives the place back.
   * @throws {SessionError} `SESSIONS_BUSY` when the queue is full. An abort rejects with the signal's reason.
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
  // In the order in which owners are served next: who was served goes to the end.
  const lines = new Map<string, Set<Waiting>>();
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
  const admitNext = (): void => {
    for (const [owner, line] of lines) {
      for (const waiting of line) {
        if (running >= places) return;
        leave(owner, waiting);
        if (lines.delete(owner)) lines.set(owner, line);
        running += 1;
        waiting.admit();
        return;
      }
    }
  };
  const place = (): (() => void) => {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      running -= 1;
      admitNext();
    };
  };
  const line = (owner: string): Set<Waiting> => {
    const known = lines.get(owner) ?? new Set<Waiting>();
    lines.set(owner, known);
    return known;
  };
  return {
    async enter(owner, signal) {
      signal?.throwIfAborted();
      if (closed !== undefined) throw closed.reason;
      if (running < places) {
        running += 1;
        return place();
      }
      if (queued >= queue) {
        throw new SessionError("SESSIONS_BUSY", `${places} session-less calls run and ${queued} wait`, {
          cure: "try again when some have ended, or use a session",
        });
      }
      queued += 1;
      return new Promise((resolve, reject) => {
        const onAbort = (): void => {
          if (leave(owner, waiting)) waiting.refuse(signal?.reason);
        };
        const settled = (): void => signal?.removeEventListener("abort", onAbort);
        const waiting: Waiting = {
          admit() {
            settled();
            resolve(place());
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
