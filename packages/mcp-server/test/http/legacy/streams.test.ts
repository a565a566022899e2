import { describe, expect, it } from "vitest";
import { createMemoryEventStore } from "../../../src/http/legacy/memory-event-store.js";
import { emptyForm } from "../../support/form.js";
import { answerOf, type Driven, drive, settled } from "./driven.js";

const listChanged = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
const token = { progressToken: "t" };
async function opened(driven: Driven, revision?: string): Promise<{ session: string }> {
  return { session: await driven.initialize(revision, "ada", { elicitation: {} }) };
}

describe("the answer to a request", () => {
  it("is JSON when nothing was sent in its course", async () => {
    const driven = drive();
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    driven.time.advance(999);
    driven.calls.get("a")?.answer("done");
    await exchange.ended();
    expect([exchange.status, exchange.headers["content-type"], answerOf(exchange.json)]).toEqual([
      200,
      "application/json",
      "done",
    ]);
    driven.time.advance(10_000);
    expect(exchange.answers).toBe(1);
  });

  it("becomes a stream with the first progress, log message or question, and ends with the answer", async () => {
    const driven = drive();
    const from = await opened(driven);
    const exchange = await driven.call("x", "a", from, token);
    const { scope, answer } = driven.calls.get("a") ?? {};
    scope?.progress(1, 2);
    expect([exchange.status, exchange.isStream]).toEqual([200, true]);
    scope?.log("warning", "hot");
    const asked = scope?.requestInput({ q: { method: "elicitation/create", params: emptyForm("?") } });
    await settled();
    const { id } = exchange.messages.at(-1) ?? {};
    driven.post({ jsonrpc: "2.0", id: Number(id), result: { action: "decline" } }, from);
    expect(await asked).toEqual({ q: { action: "decline" } });
    answer?.("done");
    await exchange.ended();
    expect(exchange.messages).toMatchObject([
      { method: "notifications/progress", params: { progressToken: "t", progress: 1, total: 2 } },
      { method: "notifications/message", params: { level: "warning", data: "hot" } },
      { method: "elicitation/create", params: emptyForm("?") },
      { id: "x", result: {} },
    ]);
    expect(exchange.events.map(({ id }) => id)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("becomes a stream when it takes longer than streamAfterMs", async () => {
    const driven = drive({ limits: { streamAfterMs: 50 } });
    const exchange = await driven.call(1, "a", await opened(driven));
    driven.time.advance(50);
    expect([exchange.isStream, exchange.text]).toEqual([true, ""]);
    driven.calls.get("a")?.answer("late");
    await exchange.ended();
    expect(exchange.messages.map(answerOf)).toEqual(["late"]);
  });

  it("is on its own stream, with what was sent in its course, however many there are", async () => {
    const driven = drive();
    const from = await opened(driven);
    const names = Array.from({ length: 50 }, (_, index) => `c${index}`);
    const exchanges = await Promise.all(names.map((name, id) => driven.call(id, name, from, { progressToken: id })));
    const listening = await driven.get(from);
    for (const step of [1, 2]) for (const name of names) driven.calls.get(name)?.scope.progress(step);
    driven.server.listChanged("tools");
    for (const name of [...names].reverse()) driven.calls.get(name)?.answer(name);
    await Promise.all(exchanges.map((exchange) => exchange.ended()));
    for (const [id, exchange] of exchanges.entries()) {
      expect(exchange.messages).toMatchObject([
        { params: { progressToken: id, progress: 1 } },
        { params: { progressToken: id, progress: 2 } },
        { id, result: { content: [{ text: `c${id}` }] } },
      ]);
    }
    expect(listening.messages).toEqual([listChanged]);
  });

  it("is still worked on when the client is gone; without an event store it is lost", async () => {
    const driven = drive();
    const from = await opened(driven);
    const early = await driven.call(1, "a", from, token);
    early.leave();
    const late = await driven.call(2, "b", from, token);
    driven.calls.get("b")?.scope.progress(1);
    late.leave();
    for (const name of ["a", "b"]) {
      expect(driven.calls.get(name)?.scope.signal.aborted).toBe(false);
      driven.calls.get(name)?.scope.progress(2);
      driven.calls.get(name)?.answer("unheard");
    }
    await settled();
    expect([early.isStream, late.messages.length, driven.errors]).toEqual([false, 1, []]);
    expect(await driven.call(1, "c", from)).toBeDefined();
    expect(driven.calls.has("c")).toBe(true);
  });
});

describe("what belongs to no request", () => {
  it("waits for the GET stream, a change that is told twice once", async () => {
    const driven = drive();
    const from = await opened(driven);
    driven.server.listChanged("tools");
    driven.server.listChanged("prompts");
    driven.server.listChanged("tools");
    const listening = await driven.get(from);
    driven.server.listChanged("tools");
    expect(listening.messages.map(({ method }) => method)).toEqual([
      "notifications/tools/list_changed",
      "notifications/prompts/list_changed",
      "notifications/tools/list_changed",
    ]);
    listening.leave();
    driven.server.listChanged("resources");
    expect((await driven.get(from)).messages).toMatchObject([{ method: "notifications/resources/list_changed" }]);
  });

  it("goes to the newest GET stream: a client whose connection broke unnoticed is not locked out", async () => {
    const driven = drive();
    const from = await opened(driven);
    const [first, second] = [await driven.get(from), await driven.get(from)];
    driven.server.listChanged("tools");
    expect([first.isEnded, first.messages, second.isEnded, second.messages]).toEqual([true, [], false, [listChanged]]);
    first.leave();
    driven.server.listChanged("tools");
    expect(second.messages).toHaveLength(2);
  });

  it.each([
    { limits: { maxWaiting: 3 }, kept: [6, 7, 8] },
    { limits: { maxWaitingBytes: 2_048 }, kept: [7, 8] },
  ])("waits within $limits: droppable messages go first, the oldest of them", async ({ limits, kept }) => {
    const uri = (n: number): string => `note:///${n}${"x".repeat(800)}`;
    const resources = Array.from({ length: 9 }, (_, n) => ({
      uri: uri(n),
      name: "n",
      permission: "use",
      read: () => "",
    }));
    const driven = drive({ limits }, { resources });
    const session = await driven.initialize();
    for (let n = 0; n < 9; n++)
      driven.post({ jsonrpc: "2.0", id: n, method: "resources/subscribe", params: { uri: uri(n) } }, { session });
    await settled();
    for (let n = 0; n < 9; n++) driven.server.resourceUpdated(uri(n));
    const listening = await driven.get({ session });
    expect(listening.messages.map(({ params }) => params)).toEqual(kept.map((n) => ({ uri: uri(n) })));
  });

  it("is not sent to sessions of others", async () => {
    const driven = drive({}, { resources: [{ uri: "note:///1", name: "n", permission: "use", read: () => "" }] });
    const [ada, eve] = [await driven.initialize(), await driven.initialize("2025-11-25", "eve")];
    driven.post(
      { jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri: "note:///1" } },
      { session: ada },
    );
    const streams = [await driven.get({ session: ada }), await driven.get({ session: eve, principal: "eve" })];
    driven.server.resourceUpdated("note:///1");
    expect(streams.map(({ messages }) => messages.length)).toEqual([1, 0]);
  });
});

describe("a stream", () => {
  it("carries comments while nothing is said, by one timer for all", async () => {
    const driven = drive();
    const exchanges = await Promise.all(
      Array.from({ length: 100 }, async () => driven.get({ session: await driven.initialize() })),
    );
    expect(driven.time.timers).toEqual({ set: 2, held: 0 }); // the other one is for idle sessions
    driven.time.advance(30_000);
    for (const { text, events } of exchanges) expect([text, events]).toEqual([": keep-alive\n\n: keep-alive\n\n", []]);
  });

  it("whose client reads nothing is bounded: notifications are left out, then it ends", async () => {
    const driven = drive({ limits: { maxStreamBytes: 1_024 } });
    const from = await opened(driven);
    const exchange = await driven.call(1, "a", from, token);
    const scope = driven.calls.get("a")?.scope;
    scope?.progress(1);
    exchange.isReading = false;
    for (let step = 2; step < 100; step++) scope?.progress(step);
    expect(exchange.queuedBytes).toBeLessThanOrEqual(1_024 + 64);
    const ask = (): Promise<unknown> | undefined =>
      scope?.requestInput({ q: { method: "elicitation/create", params: emptyForm("x".repeat(600)) } });
    for (let times = 0; times < 5; times++) void ask()?.catch(() => undefined);
    await settled();
    expect([exchange.isEnded, exchange.queuedBytes < 2_500]).toEqual([true, true]);
    driven.calls.get("a")?.answer("unheard");
    await settled();
    expect(driven.errors).toEqual([]);
  });

  it.each([
    { deliveryMs: 4_000, comments: 4 },
    { deliveryMs: 1_500, comments: 2 },
    { deliveryMs: 10, comments: 1 },
  ])("whose client takes nothing for $deliveryMs ms, or $comments comments, is cut off", async (row) => {
    const driven = drive({ limits: { idleMs: 10_000 } }, {}, { keepAliveMs: 1_000, deliveryMs: row.deliveryMs });
    const from = await opened(driven);
    const exchange = await driven.get(from);
    exchange.isReading = false;
    driven.server.listChanged("tools");
    driven.time.advance(row.comments * 1_000);
    expect(exchange.isAborted).toBe(false);
    driven.time.advance(1_000);
    expect(exchange.isAborted).toBe(true);
    driven.time.advance(10_000);
    expect([driven.side.sessionCount, driven.time.timers.set]).toEqual([0, 0]);
  });

  it("whose client is slow but takes something is not", async () => {
    const driven = drive({}, {}, { keepAliveMs: 1_000 });
    const exchange = await driven.get(await opened(driven));
    exchange.isReading = false;
    for (let times = 0; times < 20; times++) {
      driven.server.listChanged("tools");
      exchange.queuedBytes -= 10;
      driven.time.advance(1_000);
    }
    expect([exchange.isAborted, exchange.messages.length]).toEqual([false, 20]);
  });
});

describe("sessions that use equal ids and tokens", () => {
  it("never see each other's messages, questions or answers", async () => {
    const driven = drive({ eventStore: createMemoryEventStore() });
    const clients = await Promise.all(
      ["ada", "eve"].map(async (principal) => ({
        principal,
        session: await driven.initialize("2025-11-25", principal, { elicitation: {} }),
      })),
    );
    const exchanges = await Promise.all(clients.map((from) => driven.call(1, from.principal, from, token)));
    const asked = clients.map(({ principal }) => {
      const scope = driven.calls.get(principal)?.scope;
      scope?.progress(1, 1, principal);
      return scope?.requestInput({ q: { method: "elicitation/create", params: emptyForm(principal) } });
    });
    await settled();
    const [question, other] = exchanges.map(({ messages }) => messages.at(-1));
    expect([question?.["id"], question?.["params"], other?.["params"]]).toEqual([
      other?.["id"],
      emptyForm("ada"),
      emptyForm("eve"),
    ]);
    const reply = { jsonrpc: "2.0", id: Number(question?.["id"]), result: { action: "cancel" } };
    const [ada, eve] = clients;
    driven.post({ ...reply, result: { action: "decline" } }, eve);
    driven.post(reply, { ...eve, session: ada?.session });
    await settled();
    expect(await asked[1]).toEqual({ q: { action: "decline" } });
    driven.post(reply, ada);
    expect(await asked[0]).toEqual({ q: { action: "cancel" } });
    expect(exchanges[0]?.lastId).toBe(exchanges[1]?.lastId);
    for (const [index, from] of clients.entries()) {
      exchanges[index]?.leave();
      driven.calls.get(from.principal)?.answer(`for ${from.principal}`);
    }
    await settled();
    const lastEventId = exchanges[0]?.lastId;
    const stolen = await driven.get({ principal: "eve", session: ada?.session, lastEventId });
    expect(stolen.status).toBe(404);
    for (const from of clients) {
      const resumed = await driven.get({ ...from, lastEventId });
      expect(resumed.messages.map(answerOf)).toEqual([`for ${from.principal}`]);
    }
  });
});
