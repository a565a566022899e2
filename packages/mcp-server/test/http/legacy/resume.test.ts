import { describe, expect, it } from "vitest";
import { createMemoryEventStore } from "../../../src/http/legacy/memory-event-store.js";
import type { SessionOptions } from "../../../src/http/legacy/options.js";
import { emptyForm } from "../../support/form.js";
import { answerOf, type Driven, drive, settled } from "./driven.js";
import type { MemoryExchange } from "./memory-exchange.js";

const token = { progressToken: "t" };
const kept = (more: Partial<SessionOptions> = {}): SessionOptions => ({
  eventStore: createMemoryEventStore(),
  ...more,
});
const steps = (messages: readonly { readonly [key: string]: unknown }[]): unknown[] =>
  messages.map((message) => answerOf(message) ?? JSON.parse(JSON.stringify(message)).params?.progress);
async function opened(driven: Driven, revision?: string): Promise<{ session: string }> {
  return { session: await driven.initialize(revision) };
}

describe("with an event store a stream", () => {
  it("begins with an event that has an id and no message, and says when to come back", async () => {
    const driven = drive(kept({ limits: { retryMs: 1_234 } }));
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    driven.calls.get("a")?.scope.progress(1);
    const listening = await driven.get(from);
    for (const { events } of [exchange, listening])
      expect(events[0]).toEqual({ id: expect.any(String), retry: 1_234, message: undefined });
    const ids = [...exchange.events, ...listening.events].map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
  });

  it.each(["2025-06-18", "2025-03-26"])("of %s has ids, and no event without a message", async (revision) => {
    const driven = drive(kept());
    const from = await opened(driven, revision);
    const exchange = await driven.call(1, "a", from, token);
    driven.calls.get("a")?.scope.progress(1);
    driven.calls.get("a")?.scope.releaseStream();
    expect(exchange.events).toEqual([{ id: expect.any(String), retry: undefined, message: expect.anything() }]);
    expect((await driven.get(from)).events).toEqual([]);
    exchange.leave();
    driven.calls.get("a")?.answer("later");
    await settled();
    const resumed = await driven.get({ ...from, lastEventId: exchange.lastId });
    expect([steps(resumed.messages), resumed.isEnded]).toEqual([["later"], true]);
  });

  it("goes on after a break: what came meanwhile, then what comes, and the end", async () => {
    const driven = drive(kept());
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    const { scope, answer } = driven.calls.get("a") ?? {};
    for (const step of [1, 2, 3]) scope?.progress(step);
    exchange.leave();
    for (const step of [4, 5]) scope?.progress(step);
    const seen = exchange.events[2]?.id; // the client got one step
    const resumed = await driven.get({ ...from, lastEventId: seen });
    expect(steps(resumed.messages)).toEqual([2, 3, 4, 5].slice(1));
    scope?.progress(6);
    answer?.("done");
    await resumed.ended();
    expect(steps(resumed.messages)).toEqual([3, 4, 5, 6, "done"]);
  });

  it("begins also when nothing is said for streamAfterMs, so that a long call can be resumed", async () => {
    const driven = drive(kept());
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from);
    driven.time.advance(1_000);
    exchange.leave();
    const waiting = await driven.get({ ...from, lastEventId: exchange.lastId });
    expect([waiting.isStream, waiting.isEnded]).toEqual([true, false]);
    driven.calls.get("a")?.answer("at last");
    await waiting.ended();
    expect(steps(waiting.messages)).toEqual(["at last"]);
  });

  it("that is resumed while the old response is open leaves the old one", async () => {
    const driven = drive(kept());
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    const { scope, answer } = driven.calls.get("a") ?? {};
    scope?.progress(1);
    const resumed = await driven.get({ ...from, lastEventId: exchange.lastId });
    expect([exchange.isEnded, resumed.isEnded]).toEqual([true, false]);
    scope?.progress(2);
    answer?.("done");
    await resumed.ended();
    expect([steps(exchange.messages.slice(0, 1)), steps(resumed.messages)]).toEqual([[1], [2, "done"]]);
  });

  it("that ended is sent again as long as it is kept, to its own session only", async () => {
    const driven = drive({ eventStore: createMemoryEventStore({ ttlMs: 1_000 }, drive().time) });
    const from = await opened(driven);
    const other = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    driven.calls.get("a")?.scope.progress(1);
    driven.calls.get("a")?.answer("done");
    await exchange.ended();
    const lastEventId = exchange.events[0]?.id;
    for (let times = 0; times < 2; times++) {
      const again = await driven.get({ ...from, lastEventId });
      expect([steps(again.messages), again.isEnded]).toEqual([[1, "done"], true]);
    }
    expect((await driven.get({ ...other, lastEventId })).status).toBe(400);
  });

  it("of what belongs to no request goes on too, also with what waited while none was open", async () => {
    const driven = drive(kept());
    const from = await opened(driven);
    driven.server.listChanged("tools");
    const first = await driven.get(from);
    driven.server.listChanged("prompts");
    first.leave();
    driven.server.listChanged("resources");
    const [, tools] = first.events;
    const second = await driven.get({ ...from, lastEventId: tools?.id });
    const methods = (messages: readonly { readonly [key: string]: unknown }[]): unknown[] =>
      messages.map(({ method }) => String(method).split("/")[1]);
    expect([methods(first.messages), methods(second.messages)]).toEqual([
      ["tools", "prompts"],
      ["prompts", "resources"],
    ]);
    driven.server.listChanged("tools");
    expect(methods(second.messages)).toEqual(["prompts", "resources", "tools"]);
  });

  it.each([
    { name: "was never one", lastEventId: "../../etc/passwd" },
    { name: "is of a stream that never was", lastEventId: "9-1" },
    { name: "is of an event that never was", lastEventId: "1-zz" },
    { name: "is of an event of the GET stream that never was", lastEventId: "0-1" },
    { name: "is far too long", lastEventId: `1-${"9".repeat(5_000)}` },
    { name: "is empty", lastEventId: "" },
  ])("is not found by an id that $name: 400", async ({ lastEventId }) => {
    const driven = drive(kept());
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    driven.calls.get("a")?.scope.progress(1);
    const resumed = await driven.get({ ...from, lastEventId });
    expect([resumed.status, resumed.json, resumed.answers]).toMatchObject([400, { error: { code: -32600 } }, 1]);
    expect(exchange.isEnded).toBe(false);
  });

  it("misses nothing in silence: what can no longer be had whole is 400, unless only droppable messages are missing", async () => {
    const eventStore = createMemoryEventStore({ maxEventsPerSession: 2 });
    const driven = drive({ eventStore });
    const session = await driven.initialize("2025-11-25", "ada", { elicitation: {} });
    const exchange = await driven.call(1, "a", { session }, token);
    const { scope, answer } = driven.calls.get("a") ?? {};
    const ask = async (message: string): Promise<void> => {
      scope?.requestInput({ q: { method: "elicitation/create", params: emptyForm(message) } }).catch(() => undefined);
      await settled();
    };
    scope?.progress(1);
    const beforeQuestions = exchange.lastId;
    await ask("1?");
    exchange.leave();
    for (const step of [2, 3, 4]) scope?.progress(step);
    const labels = (messages: readonly { readonly [key: string]: unknown }[]): unknown[] =>
      messages.map((message) => steps([message])[0] ?? JSON.parse(JSON.stringify(message)).params.message);
    const first = await driven.get({ session, lastEventId: beforeQuestions });
    expect(labels(first.messages)).toEqual(["1?", 4]);
    const afterFirst = first.events[0]?.id;
    first.leave();
    for (const question of ["2?", "3?"]) await ask(question);
    expect((await driven.get({ session, lastEventId: beforeQuestions })).status).toBe(400);
    const second = await driven.get({ session, lastEventId: afterFirst });
    answer?.("done");
    await second.ended();
    const cancelled = [undefined, undefined, undefined]; // the questions that the handler did not wait for
    expect(labels(second.messages)).toEqual(["2?", "3?", ...cancelled, "done"]);
  });

  it("that is over is not sent again when only its end is kept: 400", async () => {
    const driven = drive({ eventStore: createMemoryEventStore({ maxEventsPerSession: 1 }) });
    const session = await driven.initialize("2025-11-25", "ada", { elicitation: {} });
    const exchange = await driven.call(1, "a", { session }, token);
    const { scope, answer } = driven.calls.get("a") ?? {};
    scope?.requestInput({ q: { method: "elicitation/create", params: emptyForm("?") } }).catch(() => undefined);
    await settled();
    answer?.("done");
    await exchange.ended();
    const [primed, asked, cancelled] = exchange.events;
    for (const { id } of [primed, asked].filter((event) => event !== undefined)) {
      expect((await driven.get({ session, lastEventId: id })).status).toBe(400);
    }
    expect(steps((await driven.get({ session, lastEventId: cancelled?.id })).messages)).toEqual(["done"]);
  });

  it("is let go of by its handler: the client comes back, for progress and for the answer", async () => {
    const driven = drive(kept({ limits: { retryMs: 500 } }));
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from);
    const { scope, answer } = driven.calls.get("a") ?? {};
    scope?.releaseStream();
    expect([exchange.isStream, exchange.isEnded]).toEqual([true, true]);
    expect(exchange.events).toEqual([
      { id: expect.any(String), retry: 500, message: undefined },
      { id: undefined, retry: 500, message: undefined },
    ]);
    const second = await driven.get({ ...from, lastEventId: exchange.lastId });
    expect([second.isStream, second.isEnded, second.messages]).toEqual([true, false, []]);
    scope?.releaseStream();
    scope?.releaseStream();
    expect(second.isEnded).toBe(true);
    answer?.("done");
    await settled();
    const third = await driven.get({ ...from, lastEventId: exchange.lastId });
    expect([steps(third.messages), third.isEnded]).toEqual([["done"], true]);
  });

  it.each([
    { name: "is over", isOver: true },
    { name: "goes on", isOver: false },
  ])("that $name is sent again no faster than its client takes it", async ({ isOver }) => {
    const driven = drive(kept({ limits: { maxStreamBytes: 1_024 } }));
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    const { scope, answer } = driven.calls.get("a") ?? {};
    scope?.progress(0);
    exchange.leave();
    for (let step = 1; step <= 100; step++) scope?.progress(step);
    if (isOver) answer?.("done");
    await settled();
    const slow = await driven.get({ ...from, lastEventId: exchange.lastId, isReading: false });
    expect(slow.queuedBytes).toBeLessThan(1_024 + 256);
    while (steps(slow.messages).length < 100) {
      slow.queuedBytes = 0;
      slow.read();
      slow.isReading = false;
      await settled();
      expect(slow.queuedBytes).toBeLessThan(1_024 + 256);
    }
    if (!isOver) answer?.("done");
    slow.read();
    await settled();
    expect([steps(slow.messages), slow.isEnded]).toEqual([
      [...Array.from({ length: 100 }, (_, n) => n + 1), "done"],
      true,
    ]);
  });

  it.each([
    { name: "leaves", end: (_driven: Driven, slow: MemoryExchange) => void slow.leave() },
    {
      name: "is overtaken by itself",
      end: (driven: Driven, _slow: MemoryExchange, again: object) => void driven.get(again),
    },
    {
      name: "ends its session",
      end: (driven: Driven, _slow: MemoryExchange, again: object) => void driven.delete(again),
    },
  ])("that is sent again slowly to a client that $name ends there", async ({ end }) => {
    const driven = drive(kept({ limits: { maxStreamBytes: 1_024 } }));
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    for (let step = 0; step <= 100; step++) driven.calls.get("a")?.scope.progress(step);
    exchange.leave();
    const again = { ...from, lastEventId: exchange.events[0]?.id };
    const slow = await driven.get({ ...again, isReading: false });
    const before = slow.messages.length;
    end(driven, slow, again);
    slow.read();
    driven.calls.get("a")?.answer("done");
    await settled();
    expect([before < 100, slow.messages.length, slow.isEnded || slow.isGone]).toEqual([true, before, true]);
    expect(driven.errors).toEqual([]);
  });

  it("gives up what it kept with its session", async () => {
    const eventStore = createMemoryEventStore();
    const driven = drive({ eventStore });
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    for (const step of [1, 2, 3]) driven.calls.get("a")?.scope.progress(step);
    exchange.leave();
    expect(eventStore.events).toBe(3);
    driven.delete(from);
    driven.calls.get("a")?.answer("late");
    await settled();
    expect([eventStore.events, eventStore.bytes]).toEqual([0, 0]);
    expect((await driven.get({ ...from, lastEventId: exchange.lastId })).status).toBe(404);
  });
});

describe("without an event store", () => {
  it("events have no ids, streams are not let go of, and Last-Event-ID is not looked at", async () => {
    const driven = drive();
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    driven.calls.get("a")?.scope.progress(1);
    driven.calls.get("a")?.scope.releaseStream();
    const listening = await driven.get({ ...from, lastEventId: "1-1" });
    driven.server.listChanged("tools");
    expect([...exchange.events, ...listening.events].map(({ id, retry }) => [id, retry])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
    expect(exchange.isEnded).toBe(false);
  });
});
