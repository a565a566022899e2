import { describe, expect, it } from "vitest";
import { pinsOf } from "./support/pins.js";
import { namesIn, openHarness } from "./support/relay-harness.js";
import { introduction, type Script, tool, toolServer } from "./support/scripted-server.js";

const pinned = { pinned: pinsOf([tool("same"), tool("changed"), tool("gone")]) };
const drifted = toolServer([tool("same"), tool("changed", "now does harm"), tool("extra")]);

describe("tools that differ from their pins", () => {
  it("are hidden and refused: changed, new and withdrawn ones, each with its reason and digests", async () => {
    await using relay = openHarness({ s: { script: drifted, tools: pinned } });
    await relay.client.initialize();
    expect(namesIn(await relay.client.request("tools/list"), "tools")).toEqual(["s__same"]);
    const errorOf = async (name: string) =>
      (await relay.client.request("tools/call", { name: `s__${name}` })).message.error;
    const expected = pinned.pinned["changed"]?.digest;
    const changed = await errorOf("changed");
    expect(changed).toMatchObject({
      code: -31101,
      data: { reason: "TOOL_CHANGED", server: "s", name: "changed", expected },
    });
    expect(changed?.data?.["measured"]).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(changed?.message).toContain("berth-gateway pin --server s");
    expect(await errorOf("extra")).toMatchObject({ code: -31101, data: { reason: "TOOL_NOT_PINNED" } });
    expect(await errorOf("gone")).toMatchObject({ code: -31101, data: { reason: "TOOL_WITHDRAWN" } });
    expect(await errorOf("never-there")).toMatchObject({ code: -32602, data: { reason: "UNKNOWN_TOOL" } });
    expect((await relay.client.request("tools/call", { name: "s__same" })).message.result).toBeDefined();
    const methods = relay.child("s").received.map(({ message }) => message.method);
    expect(methods.filter((method) => method === "tools/call")).toHaveLength(1);
  });

  it("are recorded, each difference once", async () => {
    await using relay = openHarness({ s: { script: drifted, tools: pinned } });
    await relay.client.initialize();
    await relay.client.request("tools/list");
    await relay.client.request("tools/list");
    const drift = relay.events.filter(({ type }) => type === "drift");
    expect(drift).toMatchObject([
      { server: "s", kind: "tool", name: "changed", change: "changed", observed: false },
      { name: "extra", change: "new" },
      { name: "gone", change: "withdrawn" },
    ]);
  });

  it("are refused before the first call also when no list was ever asked for", async () => {
    await using relay = openHarness({ s: { script: drifted, tools: pinned } });
    await relay.client.initialize();
    const { message } = await relay.client.request("tools/call", { name: "s__changed" });
    expect(message.error?.data?.["reason"]).toBe("TOOL_CHANGED");
    expect(relay.events.map(({ type }) => type)).toContain("call.refused");
  });

  it("pass under observe, and what would have been refused is recorded", async () => {
    await using relay = openHarness({ s: { script: drifted, tools: pinned } }, { observe: true });
    await relay.client.initialize();
    expect(namesIn(await relay.client.request("tools/list"), "tools")).toEqual(["s__same", "s__changed", "s__extra"]);
    for (const name of ["same", "changed", "extra", "gone"]) {
      expect((await relay.client.request("tools/call", { name: `s__${name}` })).message.result).toBeDefined();
    }
    const intents = relay.events.filter((event) => event.type === "call.intent");
    expect(intents.map(({ tool, definition, wouldRefuse }) => ({ tool, definition, wouldRefuse }))).toEqual([
      { tool: "same", definition: "pinned", wouldRefuse: undefined },
      { tool: "changed", definition: "unpinned", wouldRefuse: "TOOL_CHANGED" },
      { tool: "extra", definition: "unpinned", wouldRefuse: "TOOL_NOT_PINNED" },
      { tool: "gone", definition: "unpinned", wouldRefuse: "TOOL_WITHDRAWN" },
    ]);
    expect(relay.events.filter(({ type }) => type === "drift")).toMatchObject([{ observed: true }, {}, {}]);
  });

  it("are found when the server announces a change, before the next call is sent", async () => {
    let tools = [tool("same"), tool("changed"), tool("gone")];
    const script = toolServer([], { "tools/list": () => JSON.stringify({ tools }) });
    await using relay = openHarness({ s: { script, tools: pinned } });
    await relay.client.initialize();
    expect((await relay.client.request("tools/call", { name: "s__changed" })).message.result).toBeDefined();
    tools = [tool("same"), tool("changed", "a rug pull"), tool("gone")];
    relay.child("s").send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    await relay.client.take(({ method }) => method === "notifications/tools/list_changed");
    expect((await relay.client.request("tools/call", { name: "s__changed" })).message.error?.data?.["reason"]).toBe(
      "TOOL_CHANGED",
    );
    expect(relay.events.filter(({ type }) => type === "drift")).toMatchObject([{ name: "changed", change: "changed" }]);
  });

  it("are found when the list is asked for again, without an announcement", async () => {
    let description = "does same";
    const script = toolServer([], { "tools/list": () => JSON.stringify({ tools: [tool("same", description)] }) });
    await using relay = openHarness({ s: { script, tools: { pinned: pinsOf([tool("same")]) } } });
    await relay.client.initialize();
    await relay.client.request("tools/list");
    description = "something else";
    expect(namesIn(await relay.client.request("tools/list"), "tools")).toEqual([]);
  });

  it("that are on a second page count as offered", async () => {
    const script = toolServer([], {
      "tools/list": ({ params }) =>
        params?.["cursor"] === undefined
          ? JSON.stringify({ tools: [tool("same"), tool("changed")], nextCursor: "2" })
          : JSON.stringify({ tools: [tool("gone")] }),
    });
    await using relay = openHarness({ s: { script, tools: pinned } });
    await relay.client.initialize();
    expect(namesIn(await relay.client.request("tools/list"), "tools")).toEqual(["s__same", "s__changed", "s__gone"]);
    expect(relay.events).toEqual([]);
  });

  it.each([
    { name: "listed twice", list: [tool("same"), tool("same", "the second one is used by some clients")] },
    { name: "listed twice and equal", list: [tool("same"), tool("same")] },
  ])("$name are refused", async ({ list }) => {
    const script = toolServer(list);
    await using relay = openHarness({ s: { script, tools: { pinned: pinsOf([tool("same")]) } } });
    await relay.client.initialize();
    expect(namesIn(await relay.client.request("tools/list"), "tools")).toEqual([]);
    expect((await relay.client.request("tools/call", { name: "s__same" })).message.error?.data?.["reason"]).toBe(
      "TOOL_CHANGED",
    );
  });

  it("and hold a member twice are refused, whichever of the two a reader takes", async () => {
    const definition = JSON.stringify(tool("same"));
    const twice = definition.replace("{", '{"description":"does harm",');
    const script = toolServer([], { "tools/list": () => `{"tools":[${twice}]}` });
    await using relay = openHarness({ s: { script, tools: { pinned: pinsOf([tool("same")]) } } });
    await relay.client.initialize();
    expect(namesIn(await relay.client.request("tools/list"), "tools")).toEqual([]);
    expect((await relay.client.request("tools/call", { name: "s__same" })).message.error?.data?.["reason"]).toBe(
      "TOOL_CHANGED",
    );
  });

  it("cannot be told when the list fails: the call is refused and the child lives", async () => {
    const script: Script = { ...drifted, "tools/list": () => '{"nothing":1}' };
    await using relay = openHarness({ s: { script, tools: pinned } });
    await relay.client.initialize();
    const { message } = await relay.client.request("tools/call", { name: "s__same" });
    expect(message.error).toMatchObject({ code: -31102, data: { reason: "LIST_FAILED" } });
    expect(relay.session.status()[0]?.state).toBe("ready");
  });
});

describe("servers without pins", () => {
  it("pass with events that say so", async () => {
    await using relay = openHarness({ s: { script: drifted } });
    await relay.client.initialize();
    await relay.client.request("tools/call", { name: "s__same" });
    expect(relay.events).toMatchObject([{ type: "call.intent", definition: "unpinned" }, { type: "call.outcome" }]);
  });

  it("pass nothing when the host says so", async () => {
    await using relay = openHarness({ s: { script: drifted } }, { unpinned: "hide" });
    await relay.client.initialize();
    expect(namesIn(await relay.client.request("tools/list"), "tools")).toEqual([]);
    expect((await relay.client.request("tools/call", { name: "s__same" })).message.error).toMatchObject({
      code: -31101,
      data: { reason: "TOOL_NOT_PINNED" },
    });
  });

  it("with an empty list of pins pass nothing", async () => {
    await using relay = openHarness({ s: { script: drifted, tools: { pinned: {} } } });
    await relay.client.initialize();
    expect(namesIn(await relay.client.request("tools/list"), "tools")).toEqual([]);
  });
});

describe("prompts and resource templates that differ from their pins", () => {
  const prompt = (name: string, title: string) => ({ name, title });
  const template = (uriTemplate: string, name: string) => ({ uriTemplate, name });
  const script: Script = {
    initialize: introduction({ prompts: {}, resources: {} }),
    "prompts/list": () => JSON.stringify({ prompts: [prompt("a", "A"), prompt("b", "changed")] }),
    "prompts/get": () => '{"messages":[]}',
    "resources/list": () => '{"resources":[{"uri":"db://b/listed","name":"x"}]}',
    "resources/templates/list": () =>
      JSON.stringify({ resourceTemplates: [template("db://a/{id}", "A"), template("db://b/{id}", "changed")] }),
    "resources/read": () => '{"contents":[]}',
  };
  const tools = {
    pinnedPrompts: pinsOf([prompt("a", "A"), prompt("b", "B")]),
    pinnedResourceTemplates: pinsOf([template("db://a/{id}", "A"), template("db://b/{id}", "B")], "uriTemplate"),
  };

  it("are hidden, refused and recorded", async () => {
    await using relay = openHarness({ s: { script, tools } });
    await relay.client.initialize();
    expect(namesIn(await relay.client.request("prompts/list"), "prompts")).toEqual(["s__a"]);
    const templates = await relay.client.request("resources/templates/list");
    expect(namesIn(templates, "resourceTemplates", "uriTemplate")).toEqual(["db://a/{id}"]);
    expect((await relay.client.request("prompts/get", { name: "s__a" })).message.result).toBeDefined();
    expect((await relay.client.request("prompts/get", { name: "s__b" })).message.error?.data?.["reason"]).toBe(
      "PROMPT_CHANGED",
    );
    const read = async (uri: string) => (await relay.client.request("resources/read", { uri })).message;
    expect((await read("db://a/1")).result).toBeDefined();
    expect((await read("db://b/1")).error).toMatchObject({
      code: -31101,
      data: { reason: "RESOURCE_TEMPLATE_CHANGED" },
    });
    expect((await read("db://b/listed")).result).toBeDefined();
    expect(relay.events.filter(({ type }) => type === "drift")).toMatchObject([
      { kind: "prompt", name: "b", change: "changed" },
      { kind: "resource-template", name: "db://b/{id}", change: "changed" },
    ]);
  });

  it("are refused before the first call also when no list was asked for", async () => {
    await using relay = openHarness({ s: { script, tools } });
    await relay.client.initialize();
    expect((await relay.client.request("prompts/get", { name: "s__b" })).message.error?.data?.["reason"]).toBe(
      "PROMPT_CHANGED",
    );
  });
});
