import { describe, expect, it } from "vitest";
import { type Harness, openHarness } from "./support/relay-harness.js";
import { type Script, tool, toolServer } from "./support/scripted-server.js";

const silent: Script = toolServer([tool("x")], { "tools/call": () => undefined });
const open = async (onBadLine?: "fatal" | "quarantine"): Promise<Harness> => {
  const relay = openHarness({ s: { script: silent, onBadLine } });
  await relay.client.initialize();
  await relay.client.request("tools/list");
  return relay;
};
const sendCalls = async (relay: Harness, ids: readonly number[]): Promise<void> => {
  for (const id of ids) relay.client.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "s__x" } });
  for (const _ of ids) await relay.child("s").take(({ method }) => method === "tools/call");
};
const badLines = [
  { name: "a print", line: "Listening on port 3000", code: "FRAME_NOT_JSON" },
  { name: "JSON that is no message", line: '{"level":"info","msg":"ready"}', code: "MESSAGE_INVALID" },
  { name: "a batch", line: '[{"jsonrpc":"2.0","method":"x"}]', code: "BATCH_REFUSED" },
  { name: "a message cut short", line: '{"jsonrpc":"2.0","id":4,"result":{"content":[', code: "FRAME_NOT_JSON" },
  { name: "broken JSON deep inside", line: '{"jsonrpc":"2.0","id":4,"result":{"a":[1,,2]}}', code: "FRAME_NOT_JSON" },
  {
    name: "method and result in one",
    line: '{"jsonrpc":"2.0","id":4,"method":"x","result":{}}',
    code: "MESSAGE_INVALID",
  },
  { name: "two ids in one", line: '{"jsonrpc":"2.0","id":"other","result":{},"id":4}', code: "DUPLICATE_KEY" },
];

describe("a line of a child that is no message", () => {
  it.each(badLines)(
    "ends it by default and fails every pending call with CHILD_DESYNCHRONIZED: $name",
    async ({ line, code }) => {
      await using relay = await open();
      await sendCalls(relay, [1, 2]);
      relay.child("s").send(line);
      for (const id of [1, 2]) {
        const { message } = await relay.client.take((candidate) => candidate.id === id);
        expect(message.error).toMatchObject({ code: -31102, data: { reason: "CHILD_DESYNCHRONIZED", server: "s" } });
        expect(message.error?.message).toContain("onBadLine");
        expect(JSON.stringify(message)).not.toContain("3000");
      }
      expect(relay.faults).toMatchObject([{ server: "s", code, action: "ended", offset: expect.any(Number) }]);
      expect(relay.faults[0]?.excerpt).toBe(line);
      await expect
        .poll(() => relay.events.at(-1))
        .toMatchObject({ type: "child.exit", reason: "CHILD_DESYNCHRONIZED", stderrBytes: 7 });
      const outcomes = relay.events.filter((event) => event.type === "call.outcome");
      expect(outcomes).toMatchObject([{ status: "child-desynchronized" }, { status: "child-desynchronized" }]);
      expect(relay.started("s")[0]?.wasClosed).toBe(true);
      expect(JSON.stringify(relay.events)).not.toContain("Listening");
    },
  );

  it("is followed by a fresh child at the next call", async () => {
    await using relay = await open();
    relay.child("s").send("noise");
    await expect
      .poll(() => relay.session.status()[0])
      .toMatchObject({ state: "gone", lastReason: "CHILD_DESYNCHRONIZED" });
    await relay.client.request("tools/list");
    expect(relay.started("s")).toHaveLength(2);
    expect(relay.session.status()[0]).toMatchObject({ state: "ready", starts: 2 });
  });

  it.each(badLines)("is dropped and counted under quarantine, and calls go on: $name", async ({ line, code }) => {
    await using relay = await open("quarantine");
    await sendCalls(relay, [1]);
    relay.child("s").send(line);
    relay.child("s").send({ jsonrpc: "2.0", id: 3, result: { ok: true } });
    expect((await relay.client.take(({ id }) => id === 1)).message.result).toEqual({ ok: true });
    expect(relay.faults).toMatchObject([{ code, action: "dropped" }]);
    await relay.session.close();
    expect(relay.events.at(-1)).toMatchObject({ type: "child.exit", droppedLines: 1, reason: "SESSION_CLOSED" });
  });

  it("is told to the operator with its place and an excerpt that a terminal cannot be harmed by", async () => {
    await using relay = await open();
    const line = `${"x".repeat(50)}\u001b[31m\u202e${"y".repeat(500)}`;
    relay.child("s").send(line);
    await expect.poll(() => relay.faults).toHaveLength(1);
    const [fault] = relay.faults;
    expect(fault?.offset).toBeGreaterThan(0);
    expect(fault?.excerpt.length).toBeLessThan(220);
    expect(fault?.excerpt).toContain("\\u{1b}[31m\\u{202e}yyy");
  });
});

describe("a child that errs without end", () => {
  it("fills no log: of each kind the first sixteen are told, then each time their number has doubled", async () => {
    await using relay = await open("quarantine");
    for (let line = 0; line < 100; line += 1) relay.child("s").send("noise");
    for (let line = 0; line < 40; line += 1)
      relay.child("s").send('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"?"}}');
    await relay.client.request("tools/list");
    expect(relay.faults.map(({ count }) => count)).toEqual([
      ...Array.from({ length: 16 }, (_, index) => index + 1),
      32,
      64,
    ]);
    expect(relay.notices.at(-1)).toMatchObject({ code: "ERROR_WITHOUT_ID", count: 32 });
    await relay.session.close();
    expect(relay.events.at(-1)).toMatchObject({ type: "child.exit", droppedLines: 100 });
  });

  it("and invents tools has so many differences recorded and no more", async () => {
    let round = 0;
    const script = toolServer([], {
      "tools/list": () => {
        round += 1;
        return JSON.stringify({ tools: Array.from({ length: 100 }, (_, index) => tool(`r${round}-${index}`)) });
      },
    });
    await using relay = openHarness({ s: { script, tools: { pinned: {} } } });
    await relay.client.initialize();
    for (let count = 0; count < 5; count += 1) await relay.client.request("tools/list");
    expect(relay.events).toHaveLength(256);
    expect(relay.notices).toMatchObject([{ code: "DRIFT_WITHOUT_END", server: "s" }]);
  });
});

describe("a response to an id that was never issued", () => {
  it.each([{ id: 999 }, { id: "3" }, { id: -1 }, { id: 0 }, { id: "injected" }])(
    "ends the child under every policy: %j",
    async ({ id }) => {
      for (const policy of ["fatal", "quarantine"] as const) {
        await using relay = await open(policy);
        await sendCalls(relay, [1]);
        relay.child("s").send({ jsonrpc: "2.0", id, result: {} });
        const { message } = await relay.client.take((candidate) => candidate.id === 1);
        expect(message.error).toMatchObject({ data: { reason: "CHILD_DESYNCHRONIZED" } });
        expect(relay.faults).toMatchObject([{ code: "FOREIGN_RESPONSE", action: "ended" }]);
      }
    },
  );

  it("does not end it when it is an error without an id, which answers nothing", async () => {
    await using relay = await open();
    relay.child("s").send('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}');
    await relay.client.request("tools/list");
    expect(relay.notices).toMatchObject([{ code: "ERROR_WITHOUT_ID", server: "s" }]);
    expect(relay.started("s")).toHaveLength(1);
  });
});

describe("a message with a method", () => {
  it("is never taken for a response, whatever its id", async () => {
    await using relay = await open();
    await sendCalls(relay, [1]);
    relay.child("s").send({ jsonrpc: "2.0", id: 3, method: "roots/list" });
    await relay.client.take(({ method }) => method === "roots/list");
    relay.child("s").send({ jsonrpc: "2.0", id: 3, result: { ok: 1 } });
    expect((await relay.client.take(({ id, method }) => id === 1 && method === undefined)).message.result).toEqual({
      ok: 1,
    });
  });
});

describe("a bad line of the client", () => {
  it.each([
    { name: "no JSON", line: "hello", code: -32700, id: null },
    {
      name: "broken JSON inside",
      line: '{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":}}',
      code: -32700,
      id: null,
    },
    { name: "a batch", line: '[{"jsonrpc":"2.0","id":5,"method":"ping"}]', code: -32600, id: null },
    { name: "no version", line: '{"id":5,"method":"ping"}', code: -32600, id: 5 },
    { name: "a null id", line: '{"jsonrpc":"2.0","id":null,"method":"ping"}', code: -32600, id: null },
    {
      name: "two names in one",
      line: '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"s__x","name":"s__y"}}',
      code: -32600,
      id: 5,
    },
    { name: "a fraction as id", line: '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', code: -32600, id: null },
  ])("is answered and the session lives: $name", async ({ line, code, id }) => {
    await using relay = await open();
    relay.client.send(line);
    const { message } = await relay.client.take(({ error }) => error !== undefined);
    expect(message).toMatchObject({ id, error: { code } });
    expect((await relay.client.request("ping")).message.result).toEqual({});
  });
});
