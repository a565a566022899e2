import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../../fixtures/counts.js";
import { createMemoryEventStore } from "../../../src/http/legacy/memory-event-store.js";
import { emptyForm } from "../../support/form.js";
import { type Driven, drive, settled } from "./driven.js";

const second = 1_000;
const refusedInitialize = async (driven: Driven, principal = "ada"): Promise<unknown[]> => {
  const params = { protocolVersion: "2025-11-25", capabilities: {} };
  const exchange = driven.post({ jsonrpc: "2.0", id: 0, method: "initialize", params }, { principal });
  await exchange.ended();
  return [exchange.status, exchange.headers["retry-after"], exchange.json["id"]];
};
const isThere = async (driven: Driven, session: string, principal = "ada"): Promise<boolean> => {
  const exchange = driven.post({ jsonrpc: "2.0", id: "ping", method: "ping" }, { session, principal });
  await exchange.ended();
  return exchange.status === 200;
};

describe("a session that lies idle", () => {
  it("ends after idleMs, counted from the last thing that its client sent", async () => {
    const driven = drive({ limits: { idleMs: 60 * second } });
    const session = await driven.initialize();
    driven.time.advance(59 * second);
    expect(await isThere(driven, session)).toBe(true);
    driven.time.advance(59 * second);
    driven.post({ jsonrpc: "2.0", method: "notifications/initialized" }, { session });
    driven.time.advance(59 * second);
    driven.post({ jsonrpc: "2.0", id: 5, result: {} }, { session });
    driven.time.advance(59 * second);
    expect(driven.side.sessionCount).toBe(1);
    driven.time.advance(1 * second);
    expect([driven.side.sessionCount, await isThere(driven, session)]).toEqual([0, false]);
  });

  it("is not idle with an open GET stream, nor with a request under way, even if its client is gone", async () => {
    const driven = drive({ limits: { idleMs: 60 * second } });
    const [listener, caller] = [await driven.initialize(), await driven.initialize()];
    const listening = await driven.get({ session: listener });
    const calling = await driven.call(1, "a", { session: caller });
    calling.leave();
    driven.time.advance(3_600 * second);
    expect(driven.side.sessionCount).toBe(2);
    listening.leave();
    driven.calls.get("a")?.answer("unheard");
    await settled();
    driven.time.advance(59 * second);
    expect(driven.side.sessionCount).toBe(2);
    driven.time.advance(1 * second);
    expect([driven.side.sessionCount, driven.time.timers.set]).toEqual([0, 0]);
  });

  it("becomes idle when a GET stream that was replaced, or a resumed one, ends", async () => {
    const driven = drive({ limits: { idleMs: 60 * second }, eventStore: createMemoryEventStore() });
    const session = await driven.initialize();
    const first = await driven.get({ session });
    const resumed = await driven.get({ session, lastEventId: first.lastId });
    const third = await driven.get({ session });
    for (const exchange of [first, resumed, third]) exchange.leave();
    driven.time.advance(60 * second);
    expect(driven.side.sessionCount).toBe(0);
  });
});

describe("limits of sessions", () => {
  it("end a principal's longest idle session to make room for its next one, and no one else's", async () => {
    const driven = drive({ limits: { maxSessionsPerPrincipal: 3 } });
    const other = await driven.initialize("2025-11-25", "eve");
    const [first, second_, third] = [await driven.initialize(), await driven.initialize(), await driven.initialize()];
    expect(await isThere(driven, first)).toBe(true); // so that the second is the longest idle one
    const fourth = await driven.initialize();
    const there = await Promise.all([first, second_, third, fourth].map((session) => isThere(driven, session)));
    expect(there).toEqual([true, false, true, true]);
    expect(await isThere(driven, other, "eve")).toBe(true);
  });

  it("refuse with 503 when all of a principal's are busy", async () => {
    const driven = drive({ limits: { maxSessionsPerPrincipal: 2 } });
    const sessions = [await driven.initialize(), await driven.initialize()];
    await driven.get({ session: sessions[0] });
    await driven.call(1, "a", { session: sessions[1] });
    expect(await refusedInitialize(driven)).toEqual([503, "1", 0]);
    driven.calls.get("a")?.answer("done");
    await settled();
    await driven.initialize();
    expect([driven.side.sessionCount, await isThere(driven, sessions[1] ?? "")]).toEqual([2, false]);
  });

  it("refuse with 503 when there are maxSessions of all principals, until one ends", async () => {
    const driven = drive({ limits: { maxSessions: 2 } });
    const session = await driven.initialize();
    await driven.initialize("2025-11-25", "eve");
    expect(await refusedInitialize(driven, "carol")).toEqual([503, "1", 0]);
    driven.delete({ session });
    await driven.initialize("2025-11-25", "carol");
    expect(driven.side.sessionCount).toBe(2);
  });

  it("bound what is under way in one session, and in all, also when the clients are gone", async () => {
    const driven = drive({ limits: { maxRequestsPerSession: 2, maxRequests: 3 } });
    const [one, two] = [await driven.initialize(), await driven.initialize()];
    for (const id of [1, 2]) (await driven.call(id, `a${id}`, { session: one })).leave();
    expect((await driven.call(3, "a3", { session: one })).status).toBe(503);
    await driven.call(1, "b1", { session: two });
    const refused = await driven.call(2, "b2", { session: two });
    expect([refused.status, refused.json["id"], refused.headers["retry-after"]]).toEqual([503, 2, "1"]);
    driven.calls.get("a1")?.answer("done");
    await settled();
    await driven.call(2, "b3", { session: two });
    expect(driven.calls.has("b3")).toBe(true);
    driven.delete({ session: one });
    driven.calls.get("a2")?.answer("done");
    await settled();
    expect((await driven.call(9, "c", { session: two })).status).toBe(503);
    driven.calls.get("b1")?.answer("done");
    await settled();
    expect((await driven.call(9, "d", { session: two })).status).toBeUndefined();
  });

  it.each([
    { options: { limits: { idleMs: 999 } }, error: /idleMs is 999/ },
    { options: { limits: { maxSessions: 0 } }, error: /maxSessions is 0/ },
    { options: { limits: { streamAfterMs: 0.5 } }, error: /streamAfterMs is 0.5/ },
    { options: { limits: { maxSession: 5 } }, error: /no limit "maxSession"/ },
    { options: { eventStore: {} }, error: /no function "append"/ },
  ])("are refused at start when they are none, as is an event store: $options", ({ options, error }) => {
    expect(() => drive(JSON.parse(JSON.stringify(options)))).toThrow(error);
  });
});

describe("the end of a session during a call", () => {
  it.each([
    { name: "DELETE", end: (driven: Driven, session: string) => void driven.delete({ session }) },
    { name: "the close of the server", end: (driven: Driven) => void driven.side.close() },
  ])("by $name: one answer, an aborted signal, and no question that waits for ever", async ({ end }) => {
    const driven = drive({ eventStore: createMemoryEventStore() });
    const session = await driven.initialize("2025-11-25", "ada", { elicitation: {} });
    const exchange = await driven.call(1, "a", { session });
    const { scope, fail } = driven.calls.get("a") ?? {};
    const asked = scope?.requestInput({ q: { method: "elicitation/create", params: emptyForm("?") } });
    asked?.catch((error) => fail?.(error));
    await settled();
    end(driven, session);
    await expect(asked).rejects.toThrow();
    await settled();
    expect(exchange.messages.map(({ id, error }) => [id, error === undefined])).toEqual([
      [expect.anything(), true],
      [1, false],
    ]);
    expect([exchange.isEnded, scope?.signal.aborted, driven.errors]).toEqual([true, true, []]);
    if (driven.side.sessionCount === 0) driven.time.advance(3_600 * second);
    expect([driven.time.timers.set, driven.side.sessionCount]).toEqual([0, 0]);
  });
});

describe("sessions that nobody ends", () => {
  it("leave nothing after the idle limit, whatever was done in them", async () => {
    const count = scaledCount("sessions dropped without DELETE", 10_000);
    const eventStore = createMemoryEventStore({ ttlMs: 86_400_000 });
    const driven = drive({ eventStore, limits: { maxSessionsPerPrincipal: 20_000 } });
    for (let n = 0; n < count; n++) {
      const session = await driven.initialize("2025-11-25", `p${n % 7}`);
      if (n % 3 === 0) {
        const from = { session, principal: `p${n % 7}` };
        const exchange = await driven.call(n, "a", from, { progressToken: n });
        driven.calls.get("a")?.scope.progress(1);
        (await driven.get(from)).leave();
        exchange.leave();
        driven.calls.get("a")?.answer("done");
      }
    }
    driven.server.listChanged("tools");
    await settled();
    expect([driven.side.sessionCount, driven.time.timers.held]).toEqual([count, 0]);
    expect(eventStore.events).toBeGreaterThan(0);
    driven.time.advance(1_800 * second);
    await settled();
    expect([driven.side.sessionCount, eventStore.events, eventStore.bytes, driven.time.timers.set]).toEqual([
      0, 0, 0, 0,
    ]);
    expect(driven.errors).toEqual([]);
  });
});
