import type { EventStore, StreamEvent } from "../../../src/contracts.js";

const maxSmall = 30;

/** A store without a fault: a list for each session. `isSmall` bounds each session. */
export function soundStore(isSmall = false): EventStore {
  const sessions = new Map<string, StreamEvent[]>();
  return {
    append(session, event) {
      const events = sessions.get(session) ?? [];
      sessions.set(session, events);
      if (isSmall && events.length >= maxSmall) {
        const droppable = events.findIndex((one) => one.droppable);
        events.splice(Math.max(0, droppable), 1);
      }
      events.push({ ...event });
    },
    readAfter(session, stream, position) {
      return (sessions.get(session) ?? []).filter((event) => event.stream === stream && event.position > position);
    },
    forget(session) {
      sessions.delete(session);
    },
  };
}

/** One fault: what differs from the sound store, and parts of the names of the checks that it is for. */
export interface BrokenEventStore {
  readonly fault: string;
  readonly checks: readonly string[];
  readonly breakIt: (sound: EventStore) => Partial<EventStore>;
}
