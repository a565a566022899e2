import type { SessionStatus } from "./session.js";

/** Sessions that are no more, told of to their owners for a while. */
export interface EndedSessions {
  remember(owner: string, status: SessionStatus): void;
  /** The last one of this name. */
  find(owner: string, id: string): SessionStatus | undefined;
}

interface Ended {
  readonly status: SessionStatus;
  readonly until: number;
}

/** Bounded for each owner, so that nobody's endings push out another's. Time passed in is monotonic. */
export function createEndedSessions(bounds: {
  readonly endedMs: number;
  readonly maxEnded: number;
  readonly now: () => number;
}): EndedSessions {
  const owners = new Map<string, Map<string, Ended>>();

  const forget = (): void => {
    const now = bounds.now();
    for (const [owner, sessions] of owners) {
      // In the order of their ends, which is the order of `until`.
      for (const [id, { until }] of sessions) {
        if (until > now && sessions.size <= bounds.maxEnded) break;
        sessions.delete(id);
      }
      if (sessions.size === 0) owners.delete(owner);
    }
  };
  return {
    remember(owner, status) {
      const sessions = owners.get(owner) ?? new Map<string, Ended>();
      owners.set(owner, sessions);
      sessions.delete(status.id);
      sessions.set(status.id, { status, until: bounds.now() + bounds.endedMs });
      forget();
    },
    find(owner, id) {
      forget();
      return owners.get(owner)?.get(id)?.status;
    },
  };
}
