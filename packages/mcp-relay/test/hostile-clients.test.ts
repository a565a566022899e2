import { PassThrough } from "node:stream";
import { createStreamTransport } from "@berth/stdio-transport";
import { describe, expect, it } from "vitest";
import { createRelaySession } from "../src/index.js";
import { pinsOf } from "./support/pins.js";
import { namesIn, openHarness } from "./support/relay-harness.js";
import { introduction, openScripted, type ScriptedServer, tool, toolServer } from "./support/scripted-server.js";

const script = toolServer([tool("x")]);

/** A relay whose one server comes up when the test says so. */
const openStarting = async (limits: object = {}) => {
  let start: () => void = () => undefined;
  const servers: ScriptedServer[] = [];
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const openServer = async () => {
    await started;
    const server = openScripted(script);
    servers.push(server);
    return server.connection;
  };
  const relay = openHarness({ s: { open: openServer } }, { limits });
  await relay.client.initialize();
  return { relay, start, servers };
};
const call = (id: string | number, filler = "") =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "s__x", arguments: { filler } } });
const cancel = (id: string) => `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;

describe("a hostile client", () => {
  it("that calls and cancels while a server starts is refused beyond the number of calls, and served again after it", async () => {
    const { relay, start, servers } = await openStarting({ maxPendingCalls: 100 });
    for (let id = 1; id <= 1_000; id += 1) {
      relay.client.send(call(id));
      relay.client.send(cancel(String(id)));
    }
    const last = await relay.client.take(({ id }) => id === 1_000);
    expect(last.message.error).toMatchObject({ code: -32603, data: { reason: "TOO_MANY_CALLS" } });
    expect(relay.client.received.filter(({ message }) => message.error !== undefined)).toHaveLength(900);
    start();
    await expect.poll(() => relay.session.status()[0]?.state).toBe("ready");
    for (let id = 1; id <= 100; id += 1) relay.client.send(call(`again-${id}`));
    for (let id = 1; id <= 100; id += 1) {
      expect((await relay.client.take((message) => message.id === `again-${id}`)).message.result).toBeDefined();
    }
    const calls = servers[0]?.received.filter(({ message }) => message.method === "tools/call");
    expect(calls).toHaveLength(100);
    await relay[Symbol.asyncDispose]();
  });

  it.each([
    { stage: "a server's start", request: { method: "tools/call", params: { name: "s__x" } } },
    { stage: "the start for a list", request: { method: "tools/list" } },
    { stage: "the start for resources", request: { method: "resources/read", params: { uri: "u://1" } } },
    { stage: "the start for a plain name", request: { method: "tools/call", params: { name: "x" } }, plain: true },
    { stage: "the comparison with pins", request: { method: "tools/call", params: { name: "s__x" } }, pinned: true },
    { stage: "the record of its intent", request: { method: "tools/call", params: { name: "s__x" } }, slow: true },
  ])("that cancels a call during $stage has its place back when the call's way ends", async (row) => {
    const { request, plain = false, pinned = false, slow = false } = row;
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const server = toolServer([tool("x")], {
      "tools/list": ({ id }, { send }) => {
        const result = { tools: [tool("x")] };
        void (pinned ? gate : Promise.resolve()).then(() => send({ jsonrpc: "2.0", id, result }));
        return undefined;
      },
    });
    const openServer = async () => {
      if (!pinned && !slow) await gate;
      return openScripted(server).connection;
    };
    await using relay = openHarness(
      {
        s: { open: openServer, ...(pinned && { tools: { pinned: pinsOf([tool("x")]) } }) },
        t: { open: openServer },
      },
      {
        limits: { maxPendingCalls: 1 },
        names: plain ? "plain" : "prefixed",
        record: (event) => (slow && event.type === "call.intent" ? gate : undefined),
      },
    );
    await relay.client.initialize();
    relay.client.send({ jsonrpc: "2.0", id: "c", ...request });
    relay.client.send(cancel('"c"'));
    const refused = await relay.client.request("ping");
    expect(refused.message.error?.data?.["reason"]).toBe("TOO_MANY_CALLS");
    go();
    await expect.poll(async () => (await relay.client.request("ping")).message.result).toEqual({});
    expect(relay.client.received.some(({ message }) => message.id === "c")).toBe(false);
  });

  it("that sends more than may wait for a server is refused, but for one request alone", async () => {
    const { relay, start } = await openStarting({ maxPendingBytes: 100_000 });
    relay.client.send(call(1, "x".repeat(150_000)));
    relay.client.send(call(2));
    const refused = await relay.client.take(({ id }) => id === 2);
    expect(refused.message.error).toMatchObject({ code: -32603, data: { reason: "TOO_MANY_CALLS" } });
    start();
    await relay.client.take(({ id, result }) => id === 1 && result !== undefined);
    relay.client.send(call(3));
    await relay.client.take(({ id, result }) => id === 3 && result !== undefined);
    await relay[Symbol.asyncDispose]();
  });

  it("gets an answer under each id that is one, and an error for what is none", async () => {
    await using relay = openHarness({ s: { script } });
    await relay.client.initialize();
    const good = ["1", '"1"', "-7", '""', '"__proto__"', "9007199254740993", '"\\ud800"', `"${"i".repeat(1_000)}"`];
    for (const id of good) relay.client.send(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
    for (const id of good) {
      await expect
        .poll(() => relay.client.received.map(({ text }) => text))
        .toContain(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    }
    const bad = ["null", "true", "[]", "{}", "[1]"];
    for (const id of bad) relay.client.send(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
    await expect
      .poll(() => relay.client.received.filter(({ message }) => message.error?.code === -32600))
      .toHaveLength(bad.length);
    relay.client.send(`{"jsonrpc":"2.0","id":"${"i".repeat(1_000_000)}","method":"ping"}`);
    const long = await relay.client.take(({ error }) => error?.data?.["reason"] === "ID_TOO_LONG");
    expect(long.message.error?.code).toBe(-32600);
  });

  it("that cancels, answers and reports what there never was changes nothing", async () => {
    await using relay = openHarness({ s: { script } });
    await relay.client.initialize();
    await relay.client.request("tools/list");
    const before = relay.child("s").received.length;
    for (const id of ["1", "null", "{}", "1e400", '"constructor"', `"${"i".repeat(100_000)}"`]) {
      for (let count = 0; count < 200; count += 1) {
        relay.client.send(cancel(id));
        relay.client.send(`{"jsonrpc":"2.0","id":${id === "{}" ? 5 : id},"result":{}}`);
        relay.client.send(
          `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${id},"progress":1}}`,
        );
      }
    }
    expect(namesIn(await relay.client.request("tools/list"), "tools")).toEqual(["s__x"]);
    expect(
      relay
        .child("s")
        .received.slice(before)
        .map(({ message }) => message.method),
    ).toEqual(["tools/list"]);
  });

  it("that sets log levels without end has them told to a silent server one at a time, the last one in the end", async () => {
    let answer: () => void = () => undefined;
    const logs = (levels: unknown[]) =>
      toolServer([], {
        initialize: introduction({ tools: {}, logging: {} }),
        "logging/setLevel": ({ params, id }, server) => {
          levels.push(params?.["level"]);
          answer = () => server.send({ jsonrpc: "2.0", id, result: {} });
          return undefined;
        },
      });
    const levels: unknown[] = [];
    await using relay = openHarness({ a: { script: logs(levels) }, b: { script } });
    await relay.client.initialize();
    await relay.client.request("tools/list");
    for (let count = 0; count < 1_000; count += 1) {
      relay.client.send({ jsonrpc: "2.0", id: count, method: "logging/setLevel", params: { level: "info" } });
      relay.client.send({ jsonrpc: "2.0", id: `e${count}`, method: "logging/setLevel", params: { level: "error" } });
    }
    await relay.client.take(({ id }) => id === "e999");
    await expect.poll(() => levels).toEqual(["info"]);
    answer();
    await expect.poll(() => levels).toEqual(["info", "error"]);
  });

  it("that asks and never reads costs its own session, and no more memory than its queue", async () => {
    const input = new PassThrough();
    const notices: string[] = [];
    const session = createRelaySession({
      downstream: createStreamTransport({
        readable: input,
        writable: new PassThrough({ highWaterMark: 1_024 }),
        maxQueuedBytes: 100_000,
      }),
      servers: [{ name: "s" }],
      serverInfo: { name: "x", version: "0" },
      record: () => undefined,
      onNotice: ({ code }) => notices.push(code),
      openUpstream: () => Promise.reject(new Error("not needed")),
    });
    for (let id = 0; id < 10_000; id += 1) input.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
    await session.closed;
    expect(notices[0]).toBe("CLIENT_NOT_READING");
  });
});
