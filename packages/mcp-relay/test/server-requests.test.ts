import { describe, expect, it } from "vitest";
import { openHarness } from "./support/relay-harness.js";
import { tool, toolServer } from "./support/scripted-server.js";

const script = toolServer([tool("x")]);
const open = async (options = {}) => {
  const relay = openHarness({ a: { script }, b: { script } }, options);
  await relay.client.initialize();
  await relay.client.request("tools/list");
  return relay;
};

describe("requests of servers to the client", () => {
  it.each(["sampling/createMessage", "elicitation/create", "roots/list", "ping", "tasks/get", "future/method"])(
    "%s goes to the client and its answer back, to the byte but for the id",
    async (method) => {
      await using relay = await open();
      relay
        .child("a")
        .send(`{"jsonrpc":"2.0","method":"${method}","id":"own","params":{"n":1.0,"big":9007199254740993}}`);
      const asked = await relay.client.take((message) => message.method === method);
      const id = asked.message.id;
      expect(asked.text).toBe(
        `{"jsonrpc":"2.0","method":"${method}","id":${id},"params":{"n":1.0,"big":9007199254740993}}`,
      );
      relay.client.send(`{"result":{"roots":[],"y":1e0},"id":${id},"jsonrpc":"2.0"}`);
      const answer = await relay.child("a").take((message) => message.id === "own");
      expect(answer.text).toBe('{"result":{"roots":[],"y":1e0},"id":"own","jsonrpc":"2.0"}');
    },
  );

  it("of two servers with the same id never meet, and errors go back as well", async () => {
    await using relay = await open();
    for (const server of ["a", "b"])
      relay.child(server).send({ jsonrpc: "2.0", id: 1, method: "roots/list", params: { from: server } });
    const fromA = await relay.client.take(({ params }) => params?.["from"] === "a");
    const fromB = await relay.client.take(({ params }) => params?.["from"] === "b");
    expect(fromA.message.id).not.toBe(fromB.message.id);
    relay.client.send({ jsonrpc: "2.0", id: fromB.message.id, error: { code: -1, message: "for b" } });
    relay.client.send({ jsonrpc: "2.0", id: fromA.message.id, result: { roots: ["for a"] } });
    expect(
      (await relay.child("b").take(({ id, method }) => id === 1 && method === undefined)).message.error?.message,
    ).toBe("for b");
    expect((await relay.child("a").take(({ id, method }) => id === 1 && method === undefined)).message.result).toEqual({
      roots: ["for a"],
    });
  });

  it("have their progress tokens replaced, and the client's progress goes to the server that asked", async () => {
    await using relay = await open();
    for (const server of ["a", "b"]) {
      relay.child(server).send({
        jsonrpc: "2.0",
        id: 1,
        method: "sampling/createMessage",
        params: { from: server, _meta: { progressToken: "same", keep: 1 } },
      });
    }
    await relay.client.take(({ params }) => params?.["from"] === "a");
    const fromB = await relay.client.take(({ params }) => params?.["from"] === "b");
    expect(fromB.message.params?.["_meta"]).toEqual({ progressToken: fromB.message.id, keep: 1 });
    relay.client.send(
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${fromB.message.id},"progress":1.0}}`,
    );
    const progress = await relay.child("b").take(({ method }) => method === "notifications/progress");
    expect(progress.text).toBe(
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"same","progress":1.0}}',
    );
    expect(relay.child("a").received.some(({ message }) => message.method === "notifications/progress")).toBe(false);
  });

  it("are cancelled by the server that asked, with the client's id; an answer after it is dropped", async () => {
    await using relay = await open();
    relay.child("a").send({ jsonrpc: "2.0", id: 7, method: "elicitation/create", params: {} });
    const asked = await relay.client.take(({ method }) => method === "elicitation/create");
    relay.child("b").send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7, from: "b" } });
    relay
      .child("a")
      .send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"done"}}');
    const cancelled = await relay.client.take(({ method }) => method === "notifications/cancelled");
    expect(cancelled.text).toBe(
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${asked.message.id},"reason":"done"}}`,
    );
    relay.client.send({ jsonrpc: "2.0", id: asked.message.id, result: {} });
    await relay.client.request("tools/list");
    expect(relay.child("a").received.some(({ message }) => message.id === 7)).toBe(false);
  });

  it("are cancelled at the client when their server is gone, and an answer then goes nowhere", async () => {
    await using relay = await open();
    relay.child("b").send({ jsonrpc: "2.0", id: 1, method: "roots/list", params: { from: "b" } });
    const askedByB = await relay.client.take(({ params }) => params?.["from"] === "b");
    relay.child("a").send({ jsonrpc: "2.0", id: 1, method: "roots/list" });
    const asked = await relay.client.take(({ method }) => method === "roots/list");
    relay.child("a").exit(1);
    const cancelled = await relay.client.take(({ method }) => method === "notifications/cancelled");
    expect(cancelled.message.params?.["requestId"]).toBe(asked.message.id);
    await relay.client.request("tools/list");
    relay.client.send({ jsonrpc: "2.0", id: asked.message.id, result: {} });
    await relay.client.request("tools/list");
    expect(relay.child("a").received.some(({ message }) => message.result !== undefined)).toBe(false);
    relay.client.send({ jsonrpc: "2.0", id: askedByB.message.id, result: { roots: [] } });
    await relay.child("b").take(({ result }) => result !== undefined);
    expect(relay.client.received.filter(({ message }) => message.method === "notifications/cancelled")).toHaveLength(1);
  });

  it("are bounded in number, and one id is used once at a time", async () => {
    await using relay = await open({ limits: { maxServerRequests: 2 } });
    for (const id of [1, 1, 2, 3]) relay.child("a").send({ jsonrpc: "2.0", id, method: "roots/list" });
    const twice = await relay.child("a").take(({ id, method }) => id === 1 && method === undefined);
    expect(twice.message.error?.code).toBe(-32600);
    const tooMany = await relay.child("a").take(({ id, method }) => id === 3 && method === undefined);
    expect(tooMany.message.error?.code).toBe(-32603);
  });

  it("are not answered by the client's answers to other ids, which are ignored", async () => {
    await using relay = await open();
    relay.child("a").send({ jsonrpc: "2.0", id: 1, method: "roots/list" });
    await relay.client.take(({ method }) => method === "roots/list");
    for (const id of [99, "1", 0, -1]) relay.client.send({ jsonrpc: "2.0", id, result: {} });
    relay.client.send('{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"?"}}');
    await relay.client.request("tools/list");
    expect(relay.child("a").received.some(({ message }) => message.result !== undefined)).toBe(false);
  });
});

describe("notifications", () => {
  it("of servers pass to the byte: log messages, updates, changes, and what we do not know", async () => {
    await using relay = await open();
    const methods = [
      "message",
      "resources/updated",
      "prompts/list_changed",
      "resources/list_changed",
      "tasks/status",
      "x/future",
    ];
    for (const method of methods) {
      const text = `{"params":{"a":1.0},"jsonrpc":"2.0","method":"notifications/${method}"}`;
      relay.child("a").send(text);
      const { text: passed } = await relay.client.take((message) => message.method === `notifications/${method}`);
      expect(passed).toBe(text);
    }
  });

  it("of the client reach every child that runs, and only those", async () => {
    await using relay = openHarness({ a: { script }, idle: { script } });
    await relay.client.initialize();
    await relay.client.request("tools/call", { name: "a__x" });
    const text = '{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{"z":1.0}}';
    relay.client.send(text);
    const passed = await relay.child("a").take(({ method }) => method === "notifications/roots/list_changed");
    expect(passed.text).toBe(text);
    expect(relay.started("idle")).toEqual([]);
  });

  it("that a server sends before it is asked anything pass too", async () => {
    const early = toolServer([tool("x")], {
      initialize: (message, server) => {
        server.send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "starting" } });
        return script["initialize"]?.(message, server);
      },
    });
    await using relay = openHarness({ a: { script: early } });
    await relay.client.initialize();
    await relay.client.request("tools/list");
    expect(relay.client.received.some(({ text }) => text.includes("starting"))).toBe(true);
  });
});
