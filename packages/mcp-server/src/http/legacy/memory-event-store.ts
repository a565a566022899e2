import { type Scheduler, systemScheduler } from "@berth/jsonrpc-framing";
import { type Bounds, type LimitRanges, limitReader } from "../../limit-reader.js";
import { createDueQueue } from "./due-queue.js";
import type { EventStore, StreamEvent } from "./event-store.js";

/** What `createMemoryEventStore` accepts. */
export interface MemoryEventStoreLimits {
  /** Events of all sessions: 1 to 10_000_000. Default 100_000. Above: the oldest go. */
  readonly maxEvents?: number | undefined;
  /** Their size in bytes, with 256 for each: 1_024 to 4_294_967_296. Default 64 MiB. Above: the oldest go. */
  readonly maxBytes?: number | undefined;
  /** Events of one session: 1 to 1_000_000. Default 1_000. Above: its oldest go, droppable ones first. */
  readonly maxEventsPerSession?: number | undefined;
  /** Their size in bytes: 1_024 to 1_073_741_824. Default 8 MiB. Above: the same. A single event that is larger is not kept. */
  readonly maxBytesPerSession?: number | undefined;
  /** How long an event is kept, in milliseconds: 1_000 to 86_400_000. Default 300_000. */
  readonly ttlMs?: number | undefined;
}

/** See `createMemoryEventStore`. */
export interface MemoryEventStore extends EventStore {
  /** Events that are kept. */
  readonly events: number;
  /** Their size, as the limits count it. */
  readonly bytes: number;
}

interface SessionEvents {
  readonly id: string;
  // Each oldest first.
  readonly droppable: Set<Kept>;
  readonly needed: Set<Kept>;
  bytes: number;
}
interface Kept {
  readonly session: SessionEvents;
  readonly event: StreamEvent;
  readonly bytes: number;
}

const ranges = {
  maxEvents: { min: 1, max: 10_000_000, preset: 100_000 },
  maxBytes: { min: 1_024, max: 4_294_967_296, preset: 67_108_864 },
  maxEventsPerSession: { min: 1, max: 1_000_000, preset: 1_000 },
  maxBytesPerSession: { min: 1_024, max: 1_073_741_824, preset: 8_388_608 },
  ttlMs: { min: 1_000, max: 86_400_000, preset: 300_000 },
} as const satisfies LimitRanges<MemoryEventStoreLimits>;

/** What an event costs beside its message. */
const overheadBytes = 256;

/**
 * An EventStore in memory, bounded for each session and in total. Its one timer does not keep the process running.
 * @throws {RangeError} for a limit out of its range, {TypeError} for one that does not exist.
 */
export function createMemoryEventStore(
  limits?: MemoryEventStoreLimits,
  scheduler: Scheduler = systemScheduler,
): MemoryEventStore {
  const { maxEvents, maxBytes, maxEventsPerSession, maxBytesPerSession, ttlMs } = readStoreBounds(limits);
  const sessions = new Map<string, SessionEvents>();
  let bytes = 0;

  const drop = (kept: Kept | undefined): void => {
    if (kept === undefined || !setOf(kept).delete(kept)) return;
    const { session } = kept;
    aging.delete(kept);
    bytes -= kept.bytes;
    session.bytes -= kept.bytes;
    if (sizeOf(session) === 0) sessions.delete(session.id);
  };
  const aging = createDueQueue<Kept>(scheduler, ttlMs, drop);
  const add = (kept: Kept): void => {
    setOf(kept).add(kept);
    kept.session.bytes += kept.bytes;
    bytes += kept.bytes;
    aging.touch(kept);
  };

  return {
    get events() {
      return aging.size;
    },
    get bytes() {
      return bytes;
    },
    append(id, event) {
      const size = Buffer.byteLength(event.message) + overheadBytes;
      if (size > maxBytesPerSession || size > maxBytes) return;
      const session = sessions.get(id) ?? { id, droppable: new Set(), needed: new Set(), bytes: 0 };
      while (sizeOf(session) >= maxEventsPerSession || session.bytes + size > maxBytesPerSession) {
        const [oldest] = session.droppable.size > 0 ? session.droppable : session.needed;
        drop(oldest);
      }
      while (aging.size >= maxEvents || bytes + size > maxBytes) drop(aging.first());
      sessions.set(id, session);
      add({ session, event, bytes: size });
    },
    readAfter(id, stream, position) {
      const events = allOf(sessions.get(id)).map(({ event }) => event);
      const wanted = events.filter((event) => event.stream === stream && event.position > position);
      return wanted.sort((one, other) => one.position - other.position);
    },
    forget(id) {
      for (const kept of allOf(sessions.get(id))) drop(kept);
    },
  };
}

type StoreBounds = Bounds<MemoryEventStoreLimits>;

function readStoreBounds(limits: MemoryEventStoreLimits | undefined): StoreBounds {
  const read = limitReader(limits, ranges);
  return {
    maxEvents: read("maxEvents"),
    maxBytes: read("maxBytes"),
    maxEventsPerSession: read("maxEventsPerSession"),
    maxBytesPerSession: read("maxBytesPerSession"),
    ttlMs: read("ttlMs"),
  };
}

function setOf({ session, event }: Kept): Set<Kept> {
  return event.droppable ? session.droppable : session.needed;
}

function sizeOf({ droppable, needed }: SessionEvents): number {
  return droppable.size + needed.size;
}

function allOf(session: SessionEvents | undefined): Kept[] {
  return session === undefined ? [] : [...session.droppable, ...session.needed];
}
