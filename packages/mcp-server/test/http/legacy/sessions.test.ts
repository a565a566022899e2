import { describe, expect, it } from "vitest";
import { answerOf, drive, settled } from "./driven.js";

const ping = { jsonrpc: "2.0", id: 7, method: "ping" };
const initialize = (protocolVersion: string): { [key: string]: never } & object =>
  JSON.parse(
    JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion, capabilities: {} } }),
  );

describe("a session", () => {
  it.each([
    { asked: "2025-11-25", given: "2025-11-25" },
    { asked: "2025-06-18", given: "2025-06-18" },
    { asked: "2025-03-26", given: "2025-03-26" },
    { asked: "2024-11-05", given: "2025-11-25" },
    { asked: "2026-07-28", given: "2025-11-25" },
    { asked: "1999-01-01", given: "2025-11-25" },
  ])("opens with initialize: $asked is answered with $given", async ({ asked, given }) => {
    const { post, side } = drive();
    const exchange = post(initialize(asked));
    await exchange.ended();
    expect([exchange.status, exchange.json]).toMatchObject([200, { id: 0, result: { protocolVersion: given } }]);
    expect(exchange.headers["mcp-session-id"]).toMatch(/^[A-Za-z0-9_-]{32}$/);
    expect(side.sessionCount).toBe(1);
  });

  it("has another id each time", async () => {
    const { initialize: open } = drive();
    const ids = await Promise.all(Array.from({ length: 100 }, () => open()));
    expect(new Set(ids).size).toBe(100);
  });

  it("does not begin when initialize is refused, or its client is gone before the answer", async () => {
    const { post, side } = drive();
    const refused = post({ jsonrpc: "2.0", id: 0, method: "initialize", params: {} });
    await refused.ended();
    expect([refused.status, refused.json, refused.headers["mcp-session-id"]]).toMatchObject([
      200,
      { error: { code: -32602 } },
      undefined,
    ]);
    post(initialize("2025-11-25")).leave();
    await settled();
    expect(side.sessionCount).toBe(0);
  });

  it.each([
    { name: "no session is named", session: () => undefined, status: 400 },
    { name: "the session is unknown", session: () => "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", status: 404 },
    { name: "the session is named twice", session: (id: string) => `${id}, ${id}`, status: 404 },
    { name: "the session is another principal's", session: (id: string) => id, principal: "eve", status: 404 },
    { name: "an unknown revision is named", session: (id: string) => id, version: "2099-01-01", status: 400 },
    { name: "a revision without HTTP is named", session: (id: string) => id, version: "2024-11-05", status: 400 },
    { name: "a modern revision is named", session: (id: string) => id, version: "2026-07-28", status: 400 },
  ])("is not reached, by whatever method, when $name", async ({ session, principal, version, status }) => {
    const driven = drive();
    const from = { session: session(await driven.initialize()), principal, version };
    const exchanges = [driven.post(ping, from), await driven.get(from), driven.delete(from)];
    exchanges.push(driven.post({ jsonrpc: "2.0", method: "notifications/initialized" }, from));
    await settled();
    for (const exchange of exchanges)
      expect([exchange.status, exchange.answers, exchange.json]).toMatchObject([
        status,
        1,
        { error: { code: -32600 } },
      ]);
    expect(exchanges[0]?.json).toMatchObject({ id: 7 });
    expect(driven.side.sessionCount).toBe(1);
  });

  it.each([undefined, "2025-11-25", "2025-06-18", "2025-03-26"])("is reached when %s is named", async (version) => {
    const driven = drive();
    const exchange = driven.post(ping, { session: await driven.initialize("2025-06-18"), version });
    await exchange.ended();
    expect([exchange.status, exchange.json]).toEqual([200, { jsonrpc: "2.0", id: 7, result: {} }]);
  });

  it("is initialized once: a second time with its id is 400, with an unknown id 404", async () => {
    const driven = drive();
    const session = await driven.initialize();
    const again = driven.post(initialize("2025-11-25"), { session });
    const stray = driven.post(initialize("2025-11-25"), { session: "unknown" });
    await settled();
    expect([again.status, stray.status, driven.side.sessionCount]).toEqual([400, 404, 1]);
  });

  it("is another one for each of two initialize at once", async () => {
    const driven = drive();
    const [first, second] = await Promise.all([driven.initialize(), driven.initialize()]);
    expect(first).not.toBe(second);
    expect(driven.side.sessionCount).toBe(2);
  });

  it("answers notifications and responses with 202 and no body", async () => {
    const driven = drive();
    const session = await driven.initialize();
    const messages = [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99 } },
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: 1, error: { code: -1, message: "no" } },
    ];
    const exchanges = messages.map((message) => driven.post(message, { session }));
    await settled();
    expect(exchanges.map(({ status, body }) => [status, body])).toEqual(messages.map(() => [202, ""]));
  });

  it("ends by DELETE, and what is under way is answered first", async () => {
    const driven = drive();
    const session = await driven.initialize();
    const waiting = await driven.call(1, "a", { session });
    const streaming = await driven.call(2, "b", { session }, { progressToken: "t" });
    driven.calls.get("b")?.scope.progress(1);
    const listening = await driven.get({ session });
    expect(driven.delete({ session }).status).toBe(204);
    expect([waiting.status, waiting.json]).toMatchObject([200, { id: 1, error: { code: -32603 } }]);
    expect(streaming.messages.at(-1)).toMatchObject({ id: 2, error: { code: -32603 } });
    expect([streaming.isEnded, listening.isEnded]).toEqual([true, true]);
    expect(driven.calls.get("a")?.scope.signal.aborted).toBe(true);
    driven.calls.get("a")?.answer("late");
    await settled();
    expect([waiting.answers, driven.side.sessionCount, driven.errors]).toEqual([1, 0, []]);
    expect(driven.delete({ session }).status).toBe(404);
  });

  it("tells nothing of a handler's unexpected error, reports it, and goes on", async () => {
    const driven = drive();
    const session = await driven.initialize();
    const exchange = await driven.call(1, "a", { session });
    const error = new Error("the password is hunter2");
    driven.calls.get("a")?.fail(error);
    await exchange.ended();
    expect([exchange.status, exchange.json]).toEqual([
      200,
      { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } },
    ]);
    expect(driven.errors).toEqual([error]);
    const next = await driven.call(1, "b", { session });
    driven.calls.get("b")?.answer("fine");
    await next.ended();
    expect(answerOf(next.json)).toBe("fine");
  });

  it("gives a request that was cancelled no answer, only an end", async () => {
    const driven = drive();
    const session = await driven.initialize();
    const plain = await driven.call(1, "a", { session });
    const streaming = await driven.call(2, "b", { session }, { progressToken: 1 });
    driven.calls.get("b")?.scope.progress(1);
    for (const requestId of [1, 2])
      driven.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }, { session });
    for (const name of ["a", "b"]) {
      expect(driven.calls.get(name)?.scope.signal.aborted).toBe(true);
      driven.calls.get(name)?.answer("unwanted");
    }
    await settled();
    expect([plain.status, plain.body]).toEqual([202, ""]);
    expect([streaming.isEnded, streaming.messages.length]).toEqual([true, 1]);
  });

  it("refuses a second request with an id that is under way, and does not confuse the two", async () => {
    const driven = drive();
    const session = await driven.initialize();
    const first = await driven.call(1, "a", { session }, { progressToken: 1 });
    const second = await driven.call(1, "b", { session }, { progressToken: 2 });
    expect(second.json).toMatchObject({ id: 1, error: { code: -32600 } });
    driven.calls.get("a")?.scope.progress(1);
    driven.calls.get("a")?.answer("first");
    await first.ended();
    expect(first.messages.map(answerOf)).toEqual([undefined, "first"]);
  });

  it("answers everything that is open when the server closes, and nothing new after that", async () => {
    const driven = drive();
    const sessions = [await driven.initialize(), await driven.initialize("2025-06-18", "eve")];
    const waiting = await driven.call(1, "a", { session: sessions[0] });
    const streaming = await driven.call(1, "b", { session: sessions[1], principal: "eve" }, { progressToken: 1 });
    driven.calls.get("b")?.scope.progress(1);
    const listening = await driven.get({ session: sessions[0] });
    const opening = driven.post(initialize("2025-11-25"));
    await driven.side.close();
    await opening.ended();
    const closing = { error: { code: -32603, message: "the server is closing" } };
    expect([waiting.json, opening.json]).toMatchObject([closing, closing]);
    expect(streaming.messages.at(-1)).toMatchObject(closing);
    expect([streaming.isEnded, listening.isEnded, driven.side.sessionCount]).toEqual([true, true, 0]);
    const after = [driven.post(initialize("2025-11-25")), driven.post(ping, { session: sessions[0] })];
    await settled();
    expect(after.map(({ status }) => status)).toEqual([503, 503]);
    expect(driven.time.timers.set).toBe(0);
    await driven.side.close();
  });
});
