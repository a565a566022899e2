import { describe, expect, it } from "vitest";
import { createTaskOwners } from "../src/session/task-owners.js";
import { pinsOf } from "./support/pins.js";
import { namesIn, openHarness, type TestServer } from "./support/relay-harness.js";
import { tool, toolServer } from "./support/scripted-server.js";
import type { Message } from "./support/wire-end.js";

const script = toolServer([tool("x")]);
const open = async (servers: Readonly<Record<string, TestServer>> = { a: { script }, b: { script } }, options = {}) => {
  const relay = openHarness(servers, options);
  await relay.client.initialize();
  await relay.client.request("tools/list");
  return relay;
};
const callX = (server: string) => ["tools/call", { name: `${server}__x`, arguments: {} }] as const;
const isAnswer = ({ method }: Message): boolean => method === undefined;
const megabyte = "m".repeat(1_000_000);

describe("a hostile server", () => {
  it("that announces changes without end is asked for its list one at a time, and others are served", async () => {
    let asked = 0;
    const tools = { pinned: pinsOf([tool("x")]) };
    const silent = toolServer([], {
      "tools/list": () => {
        asked += 1;
        return asked === 1 ? JSON.stringify({ tools: [tool("x")] }) : undefined;
      },
    });
    await using relay = await open({ a: { script: silent, tools }, b: { script } });
    for (let count = 0; count < 20_000; count += 1) {
      relay.child("a").send('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}');
    }
    relay.child("a").send('{"jsonrpc":"2.0","method":"notifications/last"}');
    await relay.client.take(({ method }) => method === "notifications/last");
    expect(asked).toBe(2);
    expect((await relay.client.request(...callX("b"))).message.result).toBeDefined();
  });

  it("that answers each list with the news that it has changed is compared again and again, and holds up nobody", async () => {
    const tools = { pinned: pinsOf([tool("x")]) };
    let asked = 0;
    const restless = toolServer([], {
      "tools/list": (_, server) => {
        asked += 1;
        queueMicrotask(() => server.send('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'));
        return JSON.stringify({ tools: [tool("x")] });
      },
    });
    await using relay = await open({ a: { script: restless, tools }, b: { script } });
    for (let count = 0; count < 20; count += 1) {
      expect((await relay.client.request(...callX("a"))).message.result).toBeDefined();
      expect((await relay.client.request(...callX("b"))).message.result).toBeDefined();
    }
    expect(asked).toBeGreaterThan(20);
  });

  it("that invents progress reaches nobody, whatever its token is", async () => {
    await using relay = await open();
    const long = JSON.stringify("t".repeat(2_000));
    const tokens = ["1", '"t1"', "null", "true", "{}", "[]", "1e400", '"__proto__"', '"\\ud800"', long, "-0"];
    for (let round = 0; round < 1_000; round += 1) {
      for (const token of tokens) {
        relay
          .child("a")
          .send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1}}`);
      }
    }
    relay.child("a").send('{"jsonrpc":"2.0","method":"notifications/progress"}');
    expect((await relay.client.request(...callX("a"))).message.result).toBeDefined();
    expect(relay.client.received.filter(({ message }) => message.method !== undefined)).toEqual([]);
  });

  it("that asks without end is refused beyond its number, while others may ask", async () => {
    await using relay = await open();
    for (let id = 1; id <= 5_000; id += 1) relay.child("a").send({ jsonrpc: "2.0", id, method: "roots/list" });
    await relay.child("a").take(({ id, method }) => id === 5_000 && method === undefined);
    const refused = relay.child("a").received.filter(({ message }) => message.error?.code === -32603);
    expect(refused).toHaveLength(5_000 - 256);
    relay.child("b").send({ jsonrpc: "2.0", id: 1, method: "roots/list", params: { from: "b" } });
    await relay.client.take(({ params }) => params?.["from"] === "b");
    expect(relay.client.received.filter(({ message }) => message.method === "roots/list")).toHaveLength(257);
  });

  it.each([
    { name: "an id", request: `{"jsonrpc":"2.0","id":"${megabyte}","method":"roots/list"}` },
    {
      name: "a progress token",
      request: `{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"_meta":{"progressToken":"${megabyte}"}}}`,
    },
  ])("that asks with $name of a megabyte is refused, for it would be kept", async ({ request }) => {
    await using relay = await open();
    relay.child("a").send(request);
    const { message } = await relay.child("a").take(isAnswer);
    expect(message.error?.code).toBe(-32600);
    await relay.client.request(...callX("a"));
    expect(relay.client.received.some(({ message: { method } }) => method === "roots/list")).toBe(false);
  });

  it("that answers again and again, and cancels what it never asked, changes nothing", async () => {
    await using relay = await open();
    const answer = await relay.client.request(...callX("a"));
    expect(answer.message.result).toBeDefined();
    const ids = ["null", "7", '"x"', "{}", "1e400", '"constructor"', "-1"];
    for (let count = 0; count < 2_000; count += 1) {
      relay.child("a").send('{"jsonrpc":"2.0","id":3,"result":{"again":true}}');
      const id = ids[count % ids.length];
      relay.child("a").send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`);
    }
    expect((await relay.client.request(...callX("a"))).message.result).toBeDefined();
    expect(relay.client.received.some(({ text }) => text.includes("again") || text.includes("cancelled"))).toBe(false);
    expect(relay.started("a")).toHaveLength(1);
  });

  it("cannot make a fault or notice long by what it writes", async () => {
    const list = JSON.stringify({ tools: [tool(megabyte), tool(megabyte)] });
    await using relay = await open({ a: { script: toolServer([], { "tools/list": () => list }) } });
    relay.child("a").send(`{"jsonrpc":"2.0","id":"${megabyte}","result":{}}`);
    await expect.poll(() => relay.faults.map(({ code }) => code)).toEqual(["FOREIGN_RESPONSE"]);
    expect(relay.notices.map(({ code }) => code)).toEqual(["NAME_REPEATED"]);
    for (const { message } of [...relay.faults, ...relay.notices]) expect(message.length).toBeLessThan(400);
  });

  it("cannot fill the operator's log with names that collide", async () => {
    const tools = Array.from({ length: 2_000 }, (_, index) => tool(`t${index}`));
    const both = toolServer(tools);
    await using relay = await open({ a: { script: both }, b: { script: both } }, { names: "plain" });
    expect(namesIn(await relay.client.request("tools/list"), "tools")).toEqual([]);
    expect(relay.notices.length).toBeLessThan(60);
    expect(relay.notices.at(-1)?.count).toBe(2_048);
  });

  it("that lists more elements than can be compared in good time shows its pins", async () => {
    const page = (from: number): string =>
      JSON.stringify({ tools: Array.from({ length: 5_000 }, (_, index) => ({ name: `t${from + index}` })) });
    const pages = toolServer([], {
      "tools/list": ({ params }) =>
        params?.["cursor"] === undefined ? `${page(0).slice(0, -1)},"nextCursor":"2"}` : page(5_000),
    });
    await using relay = await open({ a: { script: pages, tools: { pinned: pinsOf([tool("x")]) } } });
    expect(relay.notices).toMatchObject([{ code: "LIST_FAILED", server: "a" }]);
    expect(relay.notices[0]?.message).toContain("elements");
  });

  it("that nests a hundred thousand levels deep breaks nothing, and its definition equals no pin", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const definition = `{"name":"x","inputSchema":${deep}}`;
    const nested = toolServer([], {
      "tools/list": () => `{"tools":[${definition},${JSON.stringify(tool("y"))}]}`,
      "tools/call": () => `{"content":${deep}}`,
    });
    const tools = { pinned: pinsOf([tool("x"), tool("y")]) };
    await using relay = await open({ a: { script: nested, tools } });
    const refused = await relay.client.request(...callX("a"));
    expect(refused.message.error).toMatchObject({ code: -31101, data: { reason: "TOOL_CHANGED" } });
    relay.client.send('{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"a__y"}}');
    const answer = await relay.client.take(({ id }) => id === "deep");
    expect(answer.text).toBe(`{"jsonrpc":"2.0","id":"deep","result":{"content":${deep}}}`);
  });

  it("cannot take another's task, nor have it forgotten", async () => {
    const owners = createTaskOwners();
    owners.note("a", "task-1");
    for (let count = 0; count < 10_000; count += 1) owners.note("b", `task-${count}`);
    expect(owners.owner("task-1")).toBe("a");
    expect(owners.owner("task-2")).toBeUndefined();
    expect(owners.owner("task-9999")).toBe("b");
  });
});
