import type { JsonObject } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { createHttpHandler, createMemoryEventStore, type SessionOptions } from "../../../src/http.js";
import { frontEnds, type Options, post, type Sent } from "../../support/http.js";
import { sampleServer } from "../../support/sample.js";

const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
const initialize = post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
const within = (session: string, message: JsonObject): Sent => post(message, { "mcp-session-id": session });
const serving = (sessions: SessionOptions): Options => ({ server: sampleServer(), principal: "ada", sessions });
const stores = [
  { name: "without an event store", sessions: {} },
  { name: "with an event store", sessions: { eventStore: createMemoryEventStore() } },
];

describe.each(frontEnds)("sessions whose answers are streams, over $name", ({ start }) => {
  it.each(stores)("each answer is one event on one data line, with nothing before it, $name", async ({ sessions }) => {
    await using front = await start(serving({ ...sessions, answers: "stream" }));
    const opened = await front.send(initialize);
    expect(opened.headers.get("content-type")).toBe("text/event-stream");
    expect(opened.text).toMatch(/^event: message\ndata: \{.*\}\n\n$/);
    const session = opened.headers.get("mcp-session-id") ?? "";
    const pinged = await front.send(within(session, { jsonrpc: "2.0", id: "ping", method: "ping" }));
    expect(pinged.headers.get("content-type")).toBe("text/event-stream");
    expect(pinged.text).toBe('event: message\ndata: {"jsonrpc":"2.0","id":"ping","result":{}}\n\n');
    const unknown = await front.send(within(session, { jsonrpc: "2.0", id: 2, method: "nothing/here" }));
    expect(JSON.parse(unknown.text.split("\n")[1]?.slice("data: ".length) ?? "")).toMatchObject({
      id: 2,
      error: { code: -32601 },
    });
  });

  it("what is no answer to a request stays what it is: notifications, refusals, 2026-07-28", async () => {
    await using front = await start(serving({ answers: "stream" }));
    const session = (await front.send(initialize)).headers.get("mcp-session-id") ?? "";
    const told = await front.send(within(session, { jsonrpc: "2.0", method: "notifications/initialized" }));
    expect([told.status, told.text]).toEqual([202, ""]);
    const refused = await front.send(within("unknown", { jsonrpc: "2.0", id: 1, method: "ping" }));
    expect([refused.status, refused.headers.get("content-type")]).toEqual([404, "application/json"]);
  });
});

it("answers are JSON or streams, nothing else", () => {
  const sessions = JSON.parse('{"answers":"both"}');
  expect(() => createHttpHandler({ server: sampleServer(), principal: "ada", sessions })).toThrow(
    /sessions\.answers is "both"/,
  );
});
