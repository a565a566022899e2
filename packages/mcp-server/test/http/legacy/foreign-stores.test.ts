import { describe, expect, it } from "vitest";
import type { EventStore, StreamEvent } from "../../../src/http/legacy/event-store.js";
import { createMemoryEventStore } from "../../../src/http/legacy/memory-event-store.js";
import { answerOf, type Driven, drive, settled } from "./driven.js";

const token = { progressToken: "t" };
const steps = (messages: readonly { readonly [key: string]: unknown }[]): unknown[] =>
  messages.map((message) => answerOf(message) ?? JSON.parse(JSON.stringify(message)).params?.progress);
const opened = async (driven: Driven): Promise<{ session: string }> => ({ session: await driven.initialize() });

/** A store that answers when the test says so. */
function slowStore(): EventStore & { release(): void; readonly waiting: number } {
  const store = createMemoryEventStore();
  let waiting: (() => void)[] = [];
  const later = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  return {
    get waiting() {
      return waiting.length;
    },
    release() {
      const due = waiting;
      waiting = [];
      for (const resolve of due) resolve();
    },
    async append(session, event) {
      store.append(session, event);
      await later();
    },
    async readAfter(session, stream, position) {
      const events = await store.readAfter(session, stream, position);
      await later();
      return events;
    },
    async forget(session) {
      store.forget(session);
    },
  };
}

describe("with a slow event store", () => {
  it("nothing is lost or doubled that comes while it reads", async () => {
    const eventStore = slowStore();
    const driven = drive({ eventStore });
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    const { scope, answer } = driven.calls.get("a") ?? {};
    scope?.progress(1);
    exchange.leave();
    scope?.progress(2);
    const resumed = await driven.get({ ...from, lastEventId: exchange.lastId });
    for (const step of [3, 4]) scope?.progress(step);
    eventStore.release();
    await settled();
    scope?.progress(5);
    eventStore.release();
    await settled();
    expect(steps(resumed.messages)).toEqual([2, 3, 4]);
    answer?.("done");
    for (let reads = 0; reads < 2; reads++) {
      await settled();
      eventStore.release();
    }
    await resumed.ended();
    expect(steps(resumed.messages)).toEqual([2, 3, 4, 5, "done"]);
  });

  it.each([
    { name: "another resumption", status: 409, meanwhile: (driven: Driven, from: object) => void driven.get(from) },
    {
      name: "the end of the session",
      status: 404,
      meanwhile: (driven: Driven, from: object) => void driven.delete(from),
    },
  ])("a resumption that is overtaken by $name is answered with $status", async ({ meanwhile, status }) => {
    const eventStore = slowStore();
    const driven = drive({ eventStore });
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    driven.calls.get("a")?.scope.progress(1);
    exchange.leave();
    const again = { ...from, lastEventId: exchange.lastId };
    const resumed = await driven.get(again);
    meanwhile(driven, again);
    eventStore.release();
    await settled();
    expect([resumed.status, resumed.answers]).toEqual([status, 1]);
  });

  it("whose client leaves while it reads is forgotten", async () => {
    const eventStore = slowStore();
    const driven = drive({ eventStore, limits: { idleMs: 1_000 } });
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    driven.calls.get("a")?.scope.progress(1);
    exchange.leave();
    const resumed = await driven.get({ ...from, lastEventId: exchange.lastId });
    resumed.leave();
    eventStore.release();
    driven.calls.get("a")?.answer("done");
    await settled();
    driven.time.advance(1_000);
    expect([driven.side.sessionCount, driven.errors]).toEqual([0, []]);
  });
});

describe("with an event store that fails", () => {
  const broken = (fault: () => never): EventStore => ({ append: fault, readAfter: fault, forget: fault });
  const thrown = (): never => {
    throw new Error("disk full");
  };
  const rejects: EventStore = {
    append: async () => thrown(),
    readAfter: async (): Promise<readonly StreamEvent[]> => thrown(),
    forget: async () => thrown(),
  };
  it.each([
    { name: "throws", eventStore: broken(thrown) },
    { name: "rejects", eventStore: rejects },
  ])("the connected are served, resumption is 500, and all is reported: it $name", async ({ eventStore }) => {
    const driven = drive({ eventStore });
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    driven.calls.get("a")?.scope.progress(1);
    const resumed = await driven.get({ ...from, lastEventId: exchange.events[0]?.id });
    expect([resumed.status, resumed.json]).toMatchObject([500, { error: { message: "Internal error" } }]);
    expect(steps(exchange.messages)).toEqual([1]);
    driven.delete(from);
    await settled();
    expect(driven.errors).toHaveLength(4); // progress, the error for the call, the resumption, the forgetting
  });
});
