import type { JsonObject } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../../fixtures/counts.js";
import { createMemoryEventStore, type HttpHandlerSettings, type RequestHead, serveHttp } from "../../../src/http.js";
import { type HeldServer, heldServer, until } from "../../support/held.js";
import { type FrontEnd, frontEnds, type OpenAnswer, type Options, post, type Sent } from "../../support/http.js";
import { dial, type RawClient, raw } from "../../support/raw-http.js";

const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
const initialize = post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
const within = (session: string, message: JsonObject): Sent => post(message, { "mcp-session-id": session });
const held = (session: string, id: number | string = 1): Sent => {
  const call = { name: "held", arguments: {}, _meta: { progressToken: id } };
  return within(session, { jsonrpc: "2.0", id, method: "tools/call", params: call });
};
const ping = (session: string): Sent => within(session, { jsonrpc: "2.0", id: "ping", method: "ping" });
const get = (session: string, lastEventId?: string): Sent => ({
  method: "GET",
  headers: {
    accept: "text/event-stream",
    "mcp-session-id": session,
    ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
  },
});
const elsewhere = (sent: Sent): Sent => ({ ...sent, headers: { ...sent.headers, "mcp-session-id": "unknown" } });
function serving(more: Partial<HttpHandlerSettings<string>> = {}): { served: HeldServer; options: Options } {
  const served = heldServer();
  const sessions = { eventStore: createMemoryEventStore() };
  return { served, options: { server: served.server, principal: "ada", sessions, logger: () => undefined, ...more } };
}
async function open(front: FrontEnd): Promise<string> {
  const session = (await front.send(initialize)).headers.get("mcp-session-id");
  if (session === null) throw new Error("no session");
  return session;
}
const textOf = (message: JsonObject | undefined): unknown => JSON.parse(JSON.stringify(message)).result.content[0].text;
async function rest(answer: OpenAnswer): Promise<(JsonObject | undefined)[]> {
  const messages: (JsonObject | undefined)[] = [];
  for (let one = await answer.next(); one !== undefined; one = await answer.next()) messages.push(one);
  return messages;
}

describe.each(frontEnds)("a session over $name", ({ start }) => {
  it("opens, answers as JSON and as a stream, takes notifications, and ends", async () => {
    const { served, options } = serving();
    await using front = await start(options);
    const session = await open(front);
    expect((await front.send(within(session, { jsonrpc: "2.0", method: "notifications/initialized" }))).status).toBe(
      202,
    );
    expect((await front.send(ping(session))).json).toEqual({ jsonrpc: "2.0", id: "ping", result: {} });
    const coming = front.open(held(session));
    const { call, release } = await served.taken();
    call.progress(1);
    const answer = await coming;
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(await answer.next()).toMatchObject({ params: { progress: 1 } });
    release("done");
    expect((await rest(answer)).map(textOf)).toEqual(["done"]);
    const listening = await front.open(get(session));
    served.server.listChanged("tools");
    expect(await listening.next()).toEqual({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    expect((await front.send({ ...get(session), method: "DELETE" })).status).toBe(204);
    expect(await listening.next()).toBeUndefined();
    for (const sent of [ping(session), get(session), { ...get(session), method: "DELETE" }])
      expect((await front.send(sent)).status).toBe(404);
  });

  it("is out of reach for others, whatever they know", async () => {
    const { served, options } = serving();
    const admitter = { admit: (head: RequestHead) => ({ principal: head.header("x-who") ?? "nobody" }) };
    const { principal: _, ...shared } = options;
    await using front = await start({ ...shared, admitter });
    const as = (who: string, sent: Sent): Sent => ({ ...sent, headers: { ...sent.headers, "x-who": who } });
    const session = (await front.send(as("ada", initialize))).headers.get("mcp-session-id") ?? "";
    const coming = front.open(as("ada", held(session)));
    const { call, release } = await served.taken();
    call.progress(1);
    const answer = await coming;
    await answer.next();
    const tries = [ping(session), held(session), get(session), get(session, answer.lastId)];
    tries.push({ ...get(session), method: "DELETE" }, within(session, { jsonrpc: "2.0", id: 1, result: {} }));
    for (const sent of tries) {
      const [refused, unknown] = [await front.send(as("eve", sent)), await front.send(as("eve", elsewhere(sent)))];
      expect([refused.status, refused.json]).toEqual([404, unknown.json]);
    }
    release("for ada");
    expect((await rest(answer)).map(textOf)).toEqual(["for ada"]);
  });

  it("goes on without its client, which gets the rest when it comes back", async () => {
    const { served, options } = serving();
    await using front = await start(options);
    const session = await open(front);
    const coming = front.open(held(session));
    const { call, release } = await served.taken();
    call.progress(1);
    const answer = await coming;
    await answer.next();
    answer.leave();
    expect(call.signal.aborted).toBe(false);
    call.progress(2);
    const back = await front.open(get(session, answer.lastId));
    expect(await back.next()).toMatchObject({ params: { progress: 2 } });
    call.releaseStream();
    expect(await back.next()).toBeUndefined();
    release("not lost");
    await until(() => served.outcomes.length === 2);
    expect((await rest(await front.open(get(session, back.lastId)))).map(textOf)).toEqual(["not lost"]);
  });

  it("answers what is open when the server closes", async () => {
    const { served, options } = serving({ limits: { drainMs: 0 } });
    await using front = await start(options);
    const session = await open(front);
    const waiting = front.send(held(session, 1));
    await served.taken();
    const streaming = front.open(held(session, 2));
    (await served.taken()).call.progress(1);
    const [stream, listening] = [await streaming, await front.open(get(session))];
    await Promise.all([front.close(), waiting]);
    const error = { error: { code: -32603, message: "the server is closing" } };
    expect((await waiting).json).toMatchObject({ id: 1, ...error });
    expect(await rest(stream)).toMatchObject([{ method: "notifications/progress" }, { id: 2, ...error }]);
    expect(await listening.next()).toBeUndefined();
  });

  it("answers a thousand calls at once, each on its own stream", async () => {
    const count = scaledCount("calls at once", 1_000);
    const { served, options } = serving();
    await using front = await start(options);
    const session = await open(front);
    const coming = Array.from({ length: count }, (_, id) => front.open(held(session, id)));
    const calls = [];
    while (calls.length < count) calls.push(await served.taken());
    for (const { call } of calls) call.progress(Number(call.requestId) + 1);
    for (const { call, release } of calls.reverse()) release(`answer ${call.requestId}`);
    const streams = await Promise.all((await Promise.all(coming)).map(rest));
    for (const [id, messages] of streams.entries())
      expect(messages).toMatchObject([
        { params: { progressToken: id, progress: id + 1 } },
        { id, result: { content: [{ text: `answer ${id}` }] } },
      ]);
  });
});

describe("sessions over raw connections", () => {
  it("are left at any byte of a request, an answer or a stream, and the next client is served", async () => {
    const { served, options } = serving({ onUnexpectedError: (error) => expect(error).toBeUndefined() });
    await using http = await serveHttp(options);
    const front = await dial(http.port);
    await front.write(raw(initialize));
    const [first] = await front.answers(1);
    const session = /mcp-session-id: (\S+)/.exec(first ?? "")?.[1] ?? "";
    const whole = raw(held(session));
    for (let at = 0; at < whole.length; at += 29) {
      const client = await dial(http.port);
      await client.write(whole.slice(0, at));
      client.socket.destroy();
    }
    for (const steps of [0, 1, 50]) {
      const client = await dial(http.port);
      await client.write(raw(held(session, `s${steps}`)));
      const { call, release } = await served.taken();
      for (let step = 1; step <= steps; step++) call.progress(step);
      client.socket.destroy();
      release("unheard");
    }
    await front.write(raw(ping(session)));
    expect((await front.answers(2)).at(-1)).toContain('"result":{}');
    front.socket.destroy();
  });

  it("hold thousands of idle streams, and all of them hear", async () => {
    const count = scaledCount("idle GET streams", 9_000);
    const { served, options } = serving({
      sessions: { limits: { maxSessionsPerPrincipal: 10_000 } },
      limits: { keepAliveMs: 1_000 },
    });
    await using http = await serveHttp(options);
    const clients: RawClient[] = [];
    while (clients.length < count) {
      const opened = await fetch(http.url, { method: "POST", ...initialize });
      await opened.text();
      const client = await dial(http.port);
      const session = opened.headers.get("mcp-session-id");
      await client.write(`GET /mcp HTTP/1.1\r\nhost: localhost\r\nmcp-session-id: ${session}\r\n\r\n`);
      clients.push(client);
    }
    await until(() => clients.every(({ received }) => received.includes("text/event-stream")));
    served.server.listChanged("tools");
    await until(() => clients.every(({ received }) => received.includes("list_changed")));
    await until(() => clients.every(({ received }) => received.includes(": keep-alive")));
    for (const { socket } of clients) socket.destroy();
    expect(http.sessionCount).toBe(count);
  }, 120_000);
});
