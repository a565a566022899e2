import type { EventStore, StreamEvent } from "../../http/legacy/event-store.js";
import type { Trace } from "../trace.js";

/** The calls of a store, each one a step of the trace. */
export interface EventTrial {
  readonly trace: Trace;
  append(session: string, event: StreamEvent): Promise<void>;
  readAfter(session: string, stream: number, position: number): Promise<readonly StreamEvent[]>;
  forget(session: string): Promise<void>;
  /** Wants exactly these events after this position (0 unless told), as they were appended and in their order. */
  wantEvents(session: string, stream: number, events: readonly StreamEvent[], position?: number): Promise<void>;
}

export function createEventTrial(store: EventStore, trace: Trace): EventTrial {
  const readAfter = async (session: string, stream: number, position: number): Promise<readonly StreamEvent[]> => {
    const text = `readAfter(${showSession(session)}, stream ${stream}, position ${position})`;
    const events = await trace.call(text, () => store.readAfter(session, stream, position));
    return Array.isArray(events) ? events : trace.fail(`${text} gives an array`, events);
  };
  return {
    trace,
    append: (session, event) =>
      trace.call(`append(${showSession(session)}, ${shortEvent(event)})`, async () => {
        await store.append(session, event);
      }),
    readAfter,
    forget: (session) =>
      trace.call(`forget(${showSession(session)})`, async () => {
        await store.forget(session);
      }),
    async wantEvents(session, stream, events, position = 0) {
      const seen = await readAfter(session, stream, position);
      const sentence = `what followed position ${position} of stream ${stream} in session ${showSession(session)}`;
      trace.want(sentence, seen, events);
    },
  };
}

function showSession(session: string): string {
  return JSON.stringify(session).slice(0, 60);
}

function shortEvent({ stream, position, droppable }: StreamEvent): string {
  return `stream ${stream}, position ${position}${droppable ? ", droppable" : ""}`;
}
