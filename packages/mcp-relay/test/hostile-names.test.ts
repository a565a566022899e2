import { describe, expect, it } from "vitest";
import { exposedName } from "../src/names.js";
import { pinsOf } from "./support/pins.js";
import { namesIn, openHarness, type TestServer } from "./support/relay-harness.js";
import { tool, toolServer } from "./support/scripted-server.js";

const inherited = ["__proto__", "constructor", "toString", "hasOwnProperty", "prototype", "then"];
const nameSent = (params: unknown): unknown =>
  typeof params === "object" && params !== null && "name" in params ? params.name : undefined;

describe("names that objects have by birth", () => {
  it("are tools like others: listed, called, and unpinned where they were not pinned", async () => {
    const script = toolServer(inherited.map((name) => tool(name)));
    await using relay = openHarness({
      free: { script },
      pinned: { script, tools: { pinned: pinsOf([tool("__proto__")]) } },
      empty: { script, tools: { pinned: {} } },
    });
    await relay.client.initialize();
    const list = namesIn(await relay.client.request("tools/list"), "tools");
    expect(list).toEqual([...inherited.map((name) => `free__${name}`), "pinned____proto__"]);
    for (const name of inherited) {
      const reasonOf = async (server: string) =>
        (await relay.client.request("tools/call", { name: `${server}__${name}` })).message.error?.data?.["reason"];
      expect(await reasonOf("free")).toBeUndefined();
      expect(await reasonOf("pinned")).toBe(name === "__proto__" ? undefined : "TOOL_NOT_PINNED");
      expect(await reasonOf("empty")).toBe("TOOL_NOT_PINNED");
    }
  });

  it.each(["prefixed", "plain"] as const)("are servers like others, with %s names", async (names) => {
    const servers = inherited.map((name): [string, TestServer] => [name, { script: toolServer([tool(`of_${name}`)]) }]);
    await using relay = openHarness(Object.fromEntries(servers), { names });
    await relay.client.initialize();
    const listed = namesIn(await relay.client.request("tools/list"), "tools");
    expect(listed).toHaveLength(inherited.length);
    for (const name of listed) {
      const { message } = await relay.client.request("tools/call", { name });
      expect(message.error).toBeUndefined();
    }
    expect(relay.events.filter(({ type }) => type === "call.intent").map(({ server }) => server)).toEqual(inherited);
  });

  it("are methods and capabilities that nobody has", async () => {
    await using relay = openHarness({ a: { script: toolServer([]) }, b: { script: toolServer([]) } });
    await relay.client.initialize({ capabilities: JSON.parse('{"__proto__":{"tools":{}}}') });
    for (const method of inherited) {
      expect((await relay.client.request(method)).message.error?.code).toBe(-32601);
    }
    expect(Object.keys({})).toEqual([]);
  });
});

describe("names that are no good text", () => {
  it.each([
    { name: "a lone surrogate", written: '"\\ud800"' },
    { name: "a lone surrogate at the end of a pair", written: '"\\ud83d\\ude00\\udc00"' },
    { name: "a control character", written: '"\\u0000\\u001b[2J"' },
    { name: "nothing", written: '""' },
    { name: "a megabyte", written: JSON.stringify("n".repeat(1_000_000)) },
    { name: "a megabyte of escapes", written: `"${"\\ud800".repeat(170_000)}"` },
  ])("lead back to the server's own: $name", async ({ written }) => {
    const called: unknown[] = [];
    const script = toolServer([], {
      "tools/list": () => `{"tools":[{"name":${written}}]}`,
      "tools/call": ({ params }) => {
        called.push(nameSent(params));
        return "{}";
      },
    });
    await using relay = openHarness({ s: { script } });
    await relay.client.initialize();
    const [name] = namesIn(await relay.client.request("tools/list"), "tools");
    expect(String(name).length).toBeLessThanOrEqual(128);
    expect((await relay.client.request("tools/call", { name })).message.result).toEqual({});
    expect(called).toEqual([JSON.parse(written)]);
  });

  it("stay apart when they are shortened, and are not cut inside of a character", () => {
    const long = "x".repeat(200);
    const shortened = ["\ud800", "\ud801", "\udc00", "\ufffd"].map((end) => exposedName("s", long + end, "prefixed"));
    expect(new Set(shortened).size).toBe(4);
    for (let length = 110; length < 122; length += 1) {
      const name = exposedName("s", `${"x".repeat(length)}${"😀".repeat(20)}`, "prefixed");
      expect(name).toHaveLength(128);
      expect(/\p{Cs}/u.test(name)).toBe(false);
    }
  });

  it("of a megabyte that nobody has are refused, and the answer is no longer than the question allows", async () => {
    await using relay = openHarness({ a: { script: toolServer([tool("x")]) }, b: { script: toolServer([]) } });
    await relay.client.initialize();
    const name = "n".repeat(1_000_000);
    const { message, text } = await relay.client.request("tools/call", { name });
    expect(message.error).toMatchObject({ code: -32602, data: { reason: "UNKNOWN_TOOL" } });
    expect(text.length).toBeLessThan(name.length * 3);
  });
});
