import type { JsonObject } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { aborted, heldServer, until } from "../support/held.js";
import { call, frontEnds, modern } from "../support/http.js";
import { notes } from "../support/notes.js";

const listen = (id: string | number, notifications: JsonObject = { toolsListChanged: true }) =>
  modern("subscriptions/listen", { notifications }, { id });
const subscription = "io.modelcontextprotocol/subscriptionId";

describe.each(frontEnds)("streams of 2026-07-28 over $name", ({ start }) => {
  it("an answer is a stream as soon as something is told before it, and JSON otherwise", async () => {
    const { server, taken } = heldServer();
    await using front = await start({ server, principal: "ada" });
    const coming = front.open(call("held", {}, { id: "a", meta: { progressToken: "t" } }));
    const held = await taken();
    held.call.progress(1, 2, "half");
    const answer = await coming;
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    expect(answer.headers.get("x-accel-buffering")).toBe("no");
    expect(answer.headers.get("mcp-session-id")).toBeNull();
    expect(await answer.next()).toMatchObject({
      method: "notifications/progress",
      params: { progressToken: "t", progress: 1 },
    });
    held.release();
    expect(await answer.next()).toMatchObject({ id: "a", result: { content: [{ text: "released" }] } });
    expect(await answer.next()).toBeUndefined();
    const quiet = await front.open(call("tells"));
    expect(quiet.headers.get("content-type")).toBe("application/json");
    await quiet.text();
  });

  it("what would be told is left out for a client that takes JSON alone", async () => {
    const { server } = heldServer();
    await using front = await start({ server, principal: "ada" });
    const asked = { meta: { progressToken: 1 }, headers: { accept: "application/json" } };
    expect((await front.send(call("tells", {}, asked))).json).toMatchObject({
      result: { content: [{ text: "told" }] },
    });
  });

  it("log messages come at the level that the request asks for, on its own stream", async () => {
    const { server } = heldServer();
    await using front = await start({ server, principal: "ada" });
    const answer = await front.open(call("tells", {}, { meta: { "io.modelcontextprotocol/logLevel": "info" } }));
    expect(await answer.next()).toMatchObject({ method: "notifications/message", params: { level: "warning" } });
    expect(await answer.next()).toMatchObject({ id: 1, result: {} });
  });

  it("a fault after the stream has begun is its last event", async () => {
    const { server, taken } = heldServer();
    await using front = await start({ server, principal: "ada" });
    const coming = front.open(call("held", {}, { meta: { progressToken: 1 } }));
    const held = await taken();
    held.call.progress(1);
    const answer = await coming;
    await answer.next();
    held.fail(new Error("the password is hunter2"));
    expect(await answer.next()).toEqual({ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } });
    expect(await answer.next()).toBeUndefined();
  });

  it("clients with equal ids and progress tokens get what is theirs alone", async () => {
    const { server, taken } = heldServer();
    await using front = await start({ server, principal: "ada" });
    const texts = ["one", "two", "three", "four"];
    const coming = texts.map((text) => front.open(call("held", { text }, { id: 1, meta: { progressToken: 1 } })));
    const calls = await Promise.all(texts.map(() => taken()));
    for (const held of [...calls].reverse()) held.call.progress(1, 1, String(held.call.arguments["text"]));
    for (const held of calls) held.release(String(held.call.arguments["text"]));
    for (const [index, text] of texts.entries()) {
      const answer = await coming[index];
      expect(await answer?.next()).toMatchObject({ params: { message: text } });
      expect(await answer?.next()).toMatchObject({ id: 1, result: { content: [{ text }] } });
      expect(await answer?.next()).toBeUndefined();
    }
  });

  it("a listener hears at once what it will hear, then that alone", async () => {
    const { server } = heldServer(notes);
    await using front = await start({ server, principal: "ada" });
    const wanted = { promptsListChanged: true, resourceSubscriptions: ["note:///1", "note:///secret"] };
    const [one, other] = await Promise.all([front.open(listen("x", wanted)), front.open(listen("x"))]);
    expect(await one?.next()).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: {
        notifications: { promptsListChanged: true, resourceSubscriptions: ["note:///1"] },
        _meta: { [subscription]: "x" },
      },
    });
    expect(await other?.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    server.listChanged("tools");
    server.resourceUpdated("note:///1");
    expect(await one?.next()).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: "note:///1" },
    });
    expect(await other?.next()).toMatchObject({ method: "notifications/tools/list_changed" });
  });

  it("a refused subscription is no stream, and one over the limit is 503", async () => {
    const { server } = heldServer();
    await using front = await start({ server, principal: "ada", limits: { maxListens: 1 } });
    const bad = await front.send(modern("subscriptions/listen", {}));
    expect([bad.status, bad.headers.get("content-type")]).toEqual([200, "application/json"]);
    const first = await front.open(listen(1));
    await first.next();
    const second = await front.send(listen(2));
    expect([second.status, second.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(second.json).toMatchObject({ id: 2, error: { code: -32603 } });
    first.leave();
    await until(() => first.status === 200);
    for (;;) {
      const again = await front.open(listen(3));
      if (again.status === 200) break;
      await again.text();
    }
  });

  it("requests over the limit are 503 until there is room", async () => {
    const { server, taken } = heldServer();
    await using front = await start({ server, principal: "ada", limits: { maxInFlight: 1 } });
    const first = front.send(call("held"));
    const held = await taken();
    const second = await front.send(call("sum", {}, { id: 2 }));
    expect([second.status, second.headers.get("retry-after"), second.json?.["id"]]).toEqual([503, "1", 2]);
    held.release();
    expect((await first).status).toBe(200);
    expect((await front.send(call("sum"))).status).toBe(200);
  });

  it("a silent stream carries comments", async () => {
    const { server } = heldServer();
    await using front = await start({ server, principal: "ada", limits: { keepAliveMs: 10 } });
    const answer = await front.open(listen(1));
    await answer.next();
    const next = answer.next();
    await until(() => answer.comments > 1);
    server.listChanged("tools");
    expect(await next).toMatchObject({ method: "notifications/tools/list_changed" });
  });

  it("notifications are left out for a client that does not read, the answer is not", async () => {
    const { server, taken } = heldServer();
    const limits = { maxUnreadBytes: 1_024 };
    await using front = await start({ server, principal: "ada", limits });
    const coming = front.open(call("held", {}, { meta: { progressToken: 1 } }));
    const held = await taken();
    const message = "x".repeat(100_000);
    held.call.progress(1, 1_000, message);
    const answer = await coming;
    for (let step = 2; step <= 1_000; step += 1) held.call.progress(step, 1_000, message);
    held.release();
    let events = 0;
    let last: JsonObject | undefined;
    for (let event = await answer.next(); event !== undefined; event = await answer.next()) {
      events += 1;
      last = event;
    }
    expect(last).toMatchObject({ id: 1, result: { content: [{ text: "released" }] } });
    expect(events).toBeGreaterThan(1);
    expect(events).toBeLessThan(900);
  });

  it("a stream that nobody reads is cut off in the end", async () => {
    const { server, taken } = heldServer();
    const limits = { maxUnreadBytes: 1_024, keepAliveMs: 10, deliveryMs: 50 };
    await using front = await start({ server, principal: "ada", limits });
    const coming = front.open(call("held", {}, { meta: { progressToken: 1 } }));
    const { call: open, release } = await taken();
    const message = "x".repeat(16_000_000);
    open.progress(1, 2, message);
    await coming;
    open.progress(2, 3, message);
    await aborted(open.signal);
    release();
  });
});
