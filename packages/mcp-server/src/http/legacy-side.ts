import { randomBytes as nodeRandomBytes } from "node:crypto";
import { type Message, type Scheduler, systemScheduler } from "@berth/jsonrpc-framing";
import type { Exchange } from "./exchange.js";
import type { Call } from "./legacy/call.js";
import { createDueQueue } from "./legacy/due-queue.js";
import { createEntrance } from "./legacy/entrance.js";
import { checkEventStore } from "./legacy/event-store.js";
import { readSessionBounds, type SessionBounds } from "./legacy/limits.js";
import type { LegacySideOptions } from "./legacy/options.js";
import type { Outlet } from "./legacy/outlet.js";
import type { Session, SessionSetting } from "./legacy/session.js";
import { createSessionTable } from "./legacy/session-table.js";
import { closing } from "./refusals.js";

/**
 * Sessions of clients that open with `initialize` (MCP 2025-03-26 to 2025-11-25, Transports § Streamable HTTP). Host, origin,
 * principal, content type and body were checked before; so was `Accept` (both types for a POST that holds a request, `text/event-stream` for a GET).
 * What one of its functions throws has no answer yet: an HttpRefusal, or a fault.
 */
export interface LegacySide<P> {
  /** One message by POST. */
  post(exchange: Exchange, message: Message, principal: P): Promise<void>;
  /** The stream for what belongs to no request, or the resumption of one (`last-event-id`). */
  get(exchange: Exchange, principal: P): Promise<void>;
  /** Ends the session. */
  delete(exchange: Exchange, principal: P): void;
  /** Open sessions. */
  readonly sessionCount: number;
  /** Every request that is open gets an answer; then all is released. */
  close(): Promise<void>;
}

/** @throws {RangeError} for a limit out of its range, {TypeError} for one that does not exist, or an event store that is none. */
export function createLegacySide<P>(options: LegacySideOptions<P>): LegacySide<P> {
  const { sessions, scheduler = systemScheduler } = options;
  checkEventStore(sessions?.eventStore);
  const bounds = readSessionBounds(sessions?.limits);
  const table = createSessionTable<P>(bounds, scheduler);
  const setting = settingOf(options, bounds, scheduler, table.onUse);
  const entrance = createEntrance(setting, table, options.randomBytes ?? nodeRandomBytes);
  let ended: Promise<void> | undefined;

  const checkOpen = (): void => {
    if (ended !== undefined) throw closing();
  };
  return {
    async post(exchange, message, principal) {
      checkOpen();
      if (message.kind !== "request") {
        entrance.find(exchange, principal).take(message, principal);
        exchange.answer(202, {});
      } else if (message.method === "initialize") await entrance.initialize(exchange, message, principal);
      else await entrance.serve(exchange, message, principal);
    },
    async get(exchange, principal) {
      checkOpen();
      await entrance.find(exchange, principal).listen(exchange, exchange.header("last-event-id"));
    },
    delete(exchange, principal) {
      checkOpen();
      void table.end(entrance.find(exchange, principal), "the session was ended");
      exchange.answer(204, {});
    },
    get sessionCount() {
      return table.size;
    },
    close() {
      ended ??= table.close("the server is closing").then(() => {
        setting.starting.close();
        setting.watched.close();
      });
      return ended;
    },
  };
}

function settingOf<P>(
  { server, revisions, streams, sessions, onUnexpectedError }: LegacySideOptions<P>,
  bounds: SessionBounds,
  scheduler: Scheduler,
  onUse: (session: Session<P>) => void,
): SessionSetting<P> {
  return {
    server,
    revisions,
    bounds,
    store: sessions?.eventStore,
    answersAsStream: sessions?.answers === "stream",
    starting: createDueQueue<Call>(scheduler, bounds.streamAfterMs, (call) => call.begin()),
    watched: createDueQueue<Outlet>(scheduler, streams.keepAliveMs, (outlet) => outlet.watch()),
    replays: { current: 0 },
    maxStalls: Math.max(1, Math.ceil(streams.deliveryMs / streams.keepAliveMs)),
    onUse,
    report: onUnexpectedError,
  };
}
