import { describe, expect, it } from "vitest";
import { createFakeScheduler } from "../../../../jsonrpc-framing/test/fake-scheduler.js";
import { eventStoreContract } from "../../../src/contracts.js";
import {
  createMemoryEventStore,
  type MemoryEventStore,
  type MemoryEventStoreLimits,
} from "../../../src/http/legacy/memory-event-store.js";

describe("the event store in memory, as a store of events", () => {
  const openSmall = () => ({ store: createMemoryEventStore({ maxEventsPerSession: 20 }) });
  const checks = eventStoreContract(() => ({ store: createMemoryEventStore() }), { openSmall, rounds: 500 });
  it.each(checks)("$name", ({ run }) => run());
});

const time = createFakeScheduler();
function fill(store: MemoryEventStore, session: string, count: number, message = "{}", from = 1): void {
  for (let position = from; position < from + count; position++)
    store.append(session, { stream: 1, position, needs: 0, droppable: true, message });
}
const positions = async (store: MemoryEventStore, session: string): Promise<number[]> =>
  (await store.readAfter(session, 1, 0)).map(({ position }) => position);

describe("the event store in memory", () => {
  it.each([
    { name: "maxEventsPerSession", limits: { maxEventsPerSession: 3 }, kept: [3, 4, 5], other: [1] },
    { name: "maxEvents", limits: { maxEvents: 3 }, kept: [3, 4, 5], other: [] },
    { name: "maxBytesPerSession", limits: { maxBytesPerSession: 1_100 }, kept: [3, 4, 5], other: [1] },
    { name: "maxBytes", limits: { maxBytes: 1_100 }, kept: [3, 4, 5], other: [] },
  ])("drops the oldest beyond $name", async ({ limits, kept, other }) => {
    const store = createMemoryEventStore(limits, time);
    fill(store, "b", 1, "x".repeat(100));
    fill(store, "a", 5, "x".repeat(100));
    expect([await positions(store, "a"), await positions(store, "b")]).toEqual([kept, other]);
    expect([store.events, store.bytes]).toEqual([kept.length + other.length, (kept.length + other.length) * 356]);
  });

  it("drops of a session what is droppable first", async () => {
    const store = createMemoryEventStore({ maxEventsPerSession: 3 }, time);
    for (const position of [1, 2, 3, 4, 5, 6]) {
      store.append("a", { stream: 1, position, needs: 0, droppable: position % 2 === 0, message: "{}" });
    }
    expect(await positions(store, "a")).toEqual([3, 5, 6]);
  });

  it("keeps no single event that is over the limit of its session, and drops nothing for it", async () => {
    const store = createMemoryEventStore({ maxBytesPerSession: 1_024 }, time);
    fill(store, "a", 1);
    fill(store, "a", 1, "x".repeat(1_000), 2);
    expect(await positions(store, "a")).toEqual([1]);
  });

  it("counts bytes as UTF-8", () => {
    const store = createMemoryEventStore({}, time);
    fill(store, "a", 1, "ü");
    expect(store.bytes).toBe(256 + 2);
  });

  it("drops what is older than ttlMs by one timer that holds no process, and then has none", async () => {
    const clock = createFakeScheduler();
    const store = createMemoryEventStore({ ttlMs: 10_000 }, clock);
    fill(store, "a", 2);
    clock.advance(6_000);
    fill(store, "a", 1, "{}", 3);
    fill(store, "b", 1);
    expect(clock.timers).toEqual({ set: 1, held: 0 });
    clock.advance(4_000);
    expect([await positions(store, "a"), store.events]).toEqual([[3], 2]);
    clock.advance(6_000);
    expect([store.events, store.bytes, clock.timers.set]).toEqual([0, 0, 0]);
  });

  it.each([
    { limits: { ttlMs: 999 }, error: RangeError },
    { limits: { maxEvents: 0 }, error: RangeError },
    { limits: { maxBytes: 1.5 }, error: RangeError },
    { limits: { maxEvent: 5 }, error: TypeError },
  ])("refuses limits that are none: $limits", ({ limits, error }) => {
    const make: (limits: MemoryEventStoreLimits) => unknown = createMemoryEventStore;
    expect(() => make(limits)).toThrow(error);
  });
});
