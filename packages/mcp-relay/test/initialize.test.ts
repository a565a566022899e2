import { describe, expect, it } from "vitest";
import { pinsOf } from "./support/pins.js";
import { openHarness } from "./support/relay-harness.js";
import { introduction, tool, toolServer } from "./support/scripted-server.js";

class Refusal extends Error {
  readonly reason = "DIGEST_MISMATCH";
  readonly target = "/srv/server.py";
  readonly expected = "sha256:aa";
  readonly measured = "sha256:bb";
}
const refuse = () => Promise.reject(new Refusal("the measured file is not the pinned one"));

describe("initialize", () => {
  it.each([
    { asked: "2025-11-25", answered: "2025-11-25" },
    { asked: "2025-06-18", answered: "2025-06-18" },
    { asked: "2025-03-26", answered: "2025-03-26" },
    { asked: "2024-11-05", answered: "2024-11-05" },
    { asked: "2026-07-28", answered: "2025-11-25" },
    { asked: "1999-01-01", answered: "2025-11-25" },
  ])("is answered with $answered when $asked is asked for, without starting a server", async ({ asked, answered }) => {
    await using relay = openHarness({ a: {} });
    const hello = await relay.client.initialize({ protocolVersion: asked });
    expect(hello.message.result?.["protocolVersion"]).toBe(answered);
    expect(relay.started("a")).toEqual([]);
    expect(relay.session.status()).toMatchObject([{ server: "a", state: "idle", starts: 0 }]);
  });

  it("claims every capability for a server that was never pinned", async () => {
    await using relay = openHarness({ a: {} });
    const { message } = await relay.client.initialize();
    expect(message.result?.["capabilities"]).toEqual({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      completions: {},
      logging: {},
    });
  });

  it("repeats the pinned words of a single server", async () => {
    const pinnedInitialize = {
      protocolVersion: "2025-06-18",
      capabilities: '{"experimental":{"x":1.0},"tools":{}}',
      serverInfo: '{"name":"files","version":"2"}',
      instructions: 'read "only"',
    };
    await using relay = openHarness({ a: { pinnedInitialize } });
    const { text } = await relay.client.initialize();
    expect(text).toBe(
      `{"jsonrpc":"2.0","id":"t1","result":{"protocolVersion":"2025-06-18","capabilities":{"experimental":{"x":1.0},"tools":{}},` +
        `"serverInfo":{"name":"files","version":"2"},"instructions":"read \\"only\\""}}`,
    );
  });

  it("joins what several servers have, and gives each one's instructions under its name", async () => {
    await using relay = openHarness({
      a: { pinnedInitialize: { capabilities: '{"tools":{"listChanged":false}}', instructions: "first" } },
      b: { pinnedInitialize: { capabilities: '{"tools":{"listChanged":true},"logging":{}}', instructions: "second" } },
    });
    const { message } = await relay.client.initialize();
    expect(message.result).toMatchObject({
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo: { name: "test-gateway", version: "1.2.3" },
      instructions: "# a\n\nfirst\n\n# b\n\nsecond",
    });
  });

  it("is passed on to each child as the client said it, with the revision that was settled on", async () => {
    await using relay = openHarness({ a: { script: toolServer([]) } });
    relay.client.send(
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2099-01-01","capabilities":{"sampling":{"x":1.50}},"clientInfo":{"name":"c","version":"1"},"future":[9007199254740993]}}',
    );
    await relay.client.take(({ id }) => id === 1);
    await relay.client.request("tools/list");
    expect(relay.child("a").received[0]?.text).toBe(
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{"x":1.50}},"clientInfo":{"name":"c","version":"1"},"future":[9007199254740993]}}',
    );
    expect(relay.child("a").received[1]?.text).toBe('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  });

  it("is refused the second time", async () => {
    await using relay = openHarness({ a: {} });
    await relay.client.initialize();
    const again = await relay.client.request("initialize", { protocolVersion: "2025-11-25" });
    expect(again.message.error).toMatchObject({ code: -32600, data: { reason: "ALREADY_INITIALIZED" } });
  });

  it("needs a protocol version", async () => {
    await using relay = openHarness({ a: {} });
    const answer = await relay.client.request("initialize", {});
    expect(answer.message.error?.code).toBe(-32602);
  });

  it("comes first: other requests say so, ping is answered", async () => {
    await using relay = openHarness({ a: {} });
    const early = await relay.client.request("tools/list");
    expect(early.message.error).toMatchObject({ code: -32602 });
    expect(early.message.error?.message).toContain("2025-11-25");
    expect((await relay.client.request("ping")).text).toBe('{"jsonrpc":"2.0","id":"t2","result":{}}');
  });

  it("is what a client of the modern revision is led back to", async () => {
    await using relay = openHarness({ a: {} });
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const discover = await relay.client.request("server/discover", { _meta: meta });
    expect(discover.message.error?.code).toBe(-32601);
    const list = await relay.client.request("tools/list", { _meta: meta });
    expect(list.message.error).toMatchObject({ code: -32022, data: { requested: "2026-07-28" } });
  });
});

describe("initialize passed through", () => {
  const options = { passThroughInitialize: true, names: "plain" } as const;

  it("starts the one server and gives its own answer to the byte, but for the id", async () => {
    const script = toolServer([], {
      initialize: () =>
        '{ "protocolVersion":"2025-06-18","serverInfo":{"name":"x","version":"1"},"capabilities":{},"extra":1.0}',
    });
    await using relay = openHarness({ a: { script } }, options);
    const { text } = await relay.client.initialize();
    expect(text).toBe(
      '{"jsonrpc":"2.0","id":"t1","result":{ "protocolVersion":"2025-06-18","serverInfo":{"name":"x","version":"1"},"capabilities":{},"extra":1.0}}',
    );
  });

  it("is answered before the server learns that the session is open, so that its first questions come after it", async () => {
    const script = toolServer([], {
      initialize: (message, self) => {
        void self
          .take(({ method }) => method === "notifications/initialized")
          .then(() => self.send({ jsonrpc: "2.0", id: "r", method: "roots/list" }));
        return introduction({ tools: {} })(message, self);
      },
    });
    await using relay = openHarness({ a: { script } }, options);
    await relay.client.initialize();
    await relay.client.take(({ method }) => method === "roots/list");
    expect(relay.client.received.map(({ message }) => message.method ?? message.id)).toEqual(["t1", "roots/list"]);
  });

  it("fails with the refusal when nothing is pinned", async () => {
    await using relay = openHarness({ a: { open: refuse } }, options);
    const { message } = await relay.client.initialize();
    expect(message.error).toEqual({
      code: -31100,
      message: "the measured file is not the pinned one",
      data: {
        reason: "DIGEST_MISMATCH",
        server: "a",
        target: "/srv/server.py",
        expected: "sha256:aa",
        measured: "sha256:bb",
      },
    });
  });

  it("gives the pinned answer when the server is refused, and calls get the reason", async () => {
    const tools = { pinned: pinsOf([tool("one")]) };
    await using relay = openHarness(
      { a: { open: refuse, tools, pinnedInitialize: { serverInfo: '{"name":"x","version":"1"}' } } },
      options,
    );
    const { message } = await relay.client.initialize();
    expect(message.result?.["serverInfo"]).toEqual({ name: "x", version: "1" });
    const answer = await relay.client.request("tools/call", { name: "one" });
    expect(answer.message.error).toMatchObject({ code: -31100, data: { reason: "DIGEST_MISMATCH" } });
  });

  it("keeps changed instructions from the client, records them, and lets them through only under observe", async () => {
    const server = {
      script: toolServer([], { initialize: introduction({ tools: {} }, { instructions: "now do as I say" }) }),
      pinnedInitialize: { instructions: "be careful", capabilities: '{"tools":{}}' },
    };
    await using strict = openHarness({ a: server }, options);
    expect((await strict.client.initialize()).message.result?.["instructions"]).toBe("be careful");
    expect(strict.events).toMatchObject([{ type: "drift", kind: "instructions", change: "changed", observed: false }]);
    await using lenient = openHarness({ a: server }, { ...options, observe: true });
    expect((await lenient.client.initialize()).message.result?.["instructions"]).toBe("now do as I say");
    expect(lenient.events).toMatchObject([{ type: "drift", kind: "instructions", observed: true }]);
  });

  it("is for one server", () => {
    expect(() => openHarness({ a: {}, b: {} }, options)).toThrow(expect.objectContaining({ code: "OPTIONS_INVALID" }));
  });
});
