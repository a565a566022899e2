import { keepAliveComment } from "./events.js";
import type { EventSink } from "./exchange.js";
import type { HttpBounds } from "./limits.js";

/** The streams of a handler that are open: one clock for all keeps them alive and cuts off those that nobody reads. */
export interface OpenStreams {
  add(sink: EventSink): void;
  remove(sink: EventSink): void;
  readonly size: number;
}

export function createOpenStreams({ keepAliveMs, deliveryMs, maxUnreadBytes }: HttpBounds): OpenStreams {
  /** With the time since which there was too much unread. */
  const open = new Map<EventSink, number | undefined>();
  let clock: NodeJS.Timeout | undefined;
  const look = (): void => {
    for (const [sink, since] of open) {
      if (sink.queuedBytes === 0) sink.write(keepAliveComment);
      if (sink.queuedBytes <= maxUnreadBytes) open.set(sink, undefined);
      else if (since === undefined) open.set(sink, performance.now());
      else if (performance.now() - since >= deliveryMs) sink.abort();
    }
  };
  return {
    add(sink) {
      open.set(sink, undefined);
      clock ??= setInterval(look, keepAliveMs).unref();
    },
    remove(sink) {
      open.delete(sink);
      if (open.size > 0) return;
      clearInterval(clock);
      clock = undefined;
    },
    get size() {
      return open.size;
    },
  };
}
