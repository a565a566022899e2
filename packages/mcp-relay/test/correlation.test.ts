import { describe, expect, it } from "vitest";
import { openHarness } from "./support/relay-harness.js";
import { type Script, tool, toolServer } from "./support/scripted-server.js";
import type { Received } from "./support/wire-end.js";

const silent: Script = toolServer([tool("x")], { "tools/call": () => undefined });
const isCall = ({ method }: { readonly method?: string | undefined }) => method === "tools/call";

/** Starts the child, so that what follows leaves at once. */
const openSilent = async (servers: readonly string[] = ["s"]) => {
  const relay = openHarness(Object.fromEntries(servers.map((name) => [name, { script: silent }])));
  await relay.client.initialize();
  await relay.client.request("tools/list");
  return relay;
};

describe("ids", () => {
  it("come back as the client wrote them: numbers, strings, large integers, escapes", async () => {
    await using relay = await openSilent();
    const ids = ["1", '"1"', "9007199254740993", "-5", '"\\u0061\\n"', '"ü"', "1e2", "0"];
    for (const id of ids)
      relay.client.send(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"s__x"}}`);
    const calls: Received[] = [];
    while (calls.length < ids.length) calls.push(await relay.child("s").take(isCall));
    expect(new Set(calls.map(({ message }) => message.id)).size).toBe(ids.length);
    for (const { message } of calls.reverse()) {
      relay.child("s").send(`{"jsonrpc":"2.0","id":${message.id},"result":{"for":${message.id}}}`);
    }
    await relay.client.take(({ id }) => id === 1);
    const answers = relay.client.received.map(({ text }) => text).filter((text) => text.includes('"for"'));
    expect(answers.map((text) => /"id":(.*?),"result"/.exec(text)?.[1])).toEqual([...ids].reverse());
  });

  it("of one client may be used in every form at once, but not twice while in flight", async () => {
    await using relay = await openSilent();
    relay.client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "s__x" } });
    relay.client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "s__x" } });
    const refused = await relay.client.take(({ id }) => id === 1);
    expect(refused.message.error).toMatchObject({ code: -32600, data: { reason: "ID_IN_USE" } });
  });

  it("are bounded in number", async () => {
    await using relay = openHarness({ s: { script: silent } }, { limits: { maxPendingCalls: 2 } });
    await relay.client.initialize();
    for (const id of [1, 2, 3])
      relay.client.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "s__x" } });
    const { message } = await relay.client.take(({ id }) => id === 3);
    expect(message.error).toMatchObject({ code: -32603, data: { reason: "TOO_MANY_CALLS" } });
  });

  it("of answers that come late or twice are dropped quietly", async () => {
    await using relay = await openSilent();
    relay.client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "s__x" } });
    const { message } = await relay.child("s").take(isCall);
    for (const count of [1, 2, 3]) relay.child("s").send({ jsonrpc: "2.0", id: message.id, result: { count } });
    const answer = await relay.client.take(({ id }) => id === 1);
    expect(answer.message.result).toEqual({ count: 1 });
    await relay.client.request("tools/list");
    expect(relay.faults).toEqual([]);
    expect(relay.client.received.filter(({ message: { id } }) => id === 1)).toHaveLength(1);
  });

  it("keep answers in the order of their arrival, among the notifications around them", async () => {
    await using relay = await openSilent();
    for (const id of [1, 2]) relay.client.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "s__x" } });
    const calls = [await relay.child("s").take(isCall), await relay.child("s").take(isCall)];
    const note = (level: string) => ({ jsonrpc: "2.0", method: "notifications/message", params: { level, data: "x" } });
    relay.child("s").send(note("info"));
    relay.child("s").send({ jsonrpc: "2.0", id: calls[1]?.message.id, result: {} });
    relay.child("s").send(note("error"));
    relay.child("s").send({ jsonrpc: "2.0", id: calls[0]?.message.id, result: {} });
    await relay.client.take(({ id }) => id === 1);
    const order = relay.client.received.map(({ message }) => message.params?.["level"] ?? message.id).slice(-4);
    expect(order).toEqual(["info", 2, "error", 1]);
  });
});

describe("progress", () => {
  const progress = (progressToken: unknown, more: object = {}) => ({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken, progress: 1, ...more },
  });
  const call = (id: number, name: string, progressToken: unknown) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, _meta: { progressToken } },
  });

  it("passes to the byte for the token of an active call, with the token's type", async () => {
    await using relay = await openSilent();
    relay.client.send(call(1, "s__x", "tok"));
    relay.client.send(call(2, "s__x", 5));
    await relay.child("s").take(isCall);
    await relay.child("s").take(isCall);
    relay.child("s").send(progress("5"));
    const text =
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.50,"progressToken":5,"message":"half"}}';
    relay.child("s").send(text);
    expect((await relay.client.take(({ method }) => method === "notifications/progress")).text).toBe(text);
    expect(relay.client.received.filter(({ message }) => message.method === "notifications/progress")).toHaveLength(1);
  });

  it("of one server for a call of another is dropped", async () => {
    await using relay = await openSilent(["a", "b"]);
    relay.client.send(call(1, "a__x", "tok"));
    await relay.child("a").take(isCall);
    relay.child("b").send(progress("tok", { message: "spoofed" }));
    relay
      .child("b")
      .send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "after" } });
    await relay.client.take(({ method }) => method === "notifications/message");
    expect(relay.client.received.some(({ text }) => text.includes("spoofed"))).toBe(false);
  });

  it("that comes after the answer is dropped quietly", async () => {
    await using relay = await openSilent();
    relay.client.send(call(1, "s__x", "tok"));
    const { message } = await relay.child("s").take(isCall);
    relay.child("s").send({ jsonrpc: "2.0", id: message.id, result: {} });
    relay.child("s").send(progress("tok"));
    await relay.client.take(({ id }) => id === 1);
    await relay.client.request("tools/list");
    expect(relay.client.received.some(({ message: { method } }) => method === "notifications/progress")).toBe(false);
    expect(relay.faults).toEqual([]);
  });

  it("goes on for a task after the answer that created it", async () => {
    await using relay = await openSilent();
    relay.client.send({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "s__x", task: { ttl: 60_000 }, _meta: { progressToken: "tok" } },
    });
    const { message } = await relay.child("s").take(isCall);
    relay.child("s").send({ jsonrpc: "2.0", id: message.id, result: { task: { taskId: "T1", status: "working" } } });
    relay.child("s").send(progress("tok"));
    await relay.client.take(({ method }) => method === "notifications/progress");
  });
});

describe("cancellation", () => {
  it("reaches the server with its own id and the rest to the byte; the answer after it is dropped", async () => {
    await using relay = await openSilent();
    relay.client.send({ jsonrpc: "2.0", id: "abc", method: "tools/call", params: { name: "s__x" } });
    const { message } = await relay.child("s").take(isCall);
    relay.client.send(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"enough","requestId":"abc","x":1.0}}',
    );
    const cancelled = await relay.child("s").take(({ method }) => method === "notifications/cancelled");
    expect(cancelled.text).toBe(
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"enough","requestId":${message.id},"x":1.0}}`,
    );
    relay.child("s").send({ jsonrpc: "2.0", id: message.id, result: {} });
    await relay.client.request("tools/list");
    expect(relay.client.received.some(({ message: { id } }) => id === "abc")).toBe(false);
    expect(relay.events.at(-1)).toMatchObject({ type: "call.outcome", status: "cancelled", response: undefined });
    expect(relay.faults).toEqual([]);
  });

  it("of something unknown, finished or malformed is ignored", async () => {
    await using relay = await openSilent();
    for (const requestId of [99, "x", null, {}, undefined]) {
      relay.client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
    }
    relay.client.send({ jsonrpc: "2.0", method: "notifications/cancelled" });
    await relay.client.request("tools/list");
    expect(relay.child("s").received.some(({ message }) => message.method === "notifications/cancelled")).toBe(false);
  });

  it("of a call whose server is still starting means that it never leaves", async () => {
    await using relay = openHarness({ s: { script: silent } });
    await relay.client.initialize();
    relay.client.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "s__x" } });
    relay.client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    await relay.client.request("tools/list");
    expect(relay.child("s").received.some(({ message }) => message.method === "tools/call")).toBe(false);
    expect(relay.events).toMatchObject([{ type: "call.cancelled", server: "s", tool: "x" }]);
  });
});
