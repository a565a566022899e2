import { describe, expect, it } from "vitest";
import { namesIn, openHarness } from "./support/relay-harness.js";
import { introduction, type Script, toolServer } from "./support/scripted-server.js";

const resourceServer = (name: string, uris: readonly string[], templates: readonly string[] = []): Script => ({
  initialize: introduction({ resources: { subscribe: true }, completions: {}, prompts: {} }),
  "resources/list": () => JSON.stringify({ resources: uris.map((uri) => ({ uri, name })) }),
  "resources/templates/list": () =>
    JSON.stringify({ resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate, name })) }),
  "resources/read": ({ params }) => JSON.stringify({ contents: [{ uri: params?.["uri"], text: name }] }),
  "resources/subscribe": () => "{}",
  "resources/unsubscribe": () => "{}",
  "prompts/list": () => JSON.stringify({ prompts: [{ name: "greet" }] }),
  "prompts/get": () => JSON.stringify({ messages: [{ role: "user", content: { type: "text", text: name } }] }),
  "completion/complete": ({ params }) =>
    JSON.stringify({ completion: { values: [name, JSON.stringify(params?.["ref"])] } }),
});
const dead = () => Promise.reject(new Error("spawn failed"));
const two = {
  a: { script: resourceServer("a", ["file:///one", "shared://x"], ["db://{table}"]) },
  b: { script: resourceServer("b", ["file:///two", "shared://x"], ["db://{+rest}", "web://{host}"]) },
};

describe("resources of several servers", () => {
  it("keep their addresses; one that two servers list belongs to the first, with a notice", async () => {
    await using relay = openHarness(two);
    await relay.client.initialize();
    const list = await relay.client.request("resources/list");
    expect(namesIn(list, "resources", "uri")).toEqual(["file:///one", "shared://x", "file:///two"]);
    expect(relay.notices).toMatchObject([{ code: "NAME_COLLISION", server: "b" }]);
    const templates = await relay.client.request("resources/templates/list");
    expect(namesIn(templates, "resourceTemplates", "uriTemplate")).toEqual([
      "db://{table}",
      "db://{+rest}",
      "web://{host}",
    ]);
  });

  it.each([
    { uri: "file:///one", owner: "a", why: "listed by a" },
    { uri: "file:///two", owner: "b", why: "listed by b" },
    { uri: "shared://x", owner: "a", why: "listed by both" },
    { uri: "db://users", owner: "a", why: "the first template that fits" },
    { uri: "db://users/7", owner: "b", why: "the only template that fits" },
    { uri: "web://host", owner: "b", why: "a template of b" },
  ])("are read from the server that $uri belongs to: $why", async ({ uri, owner }) => {
    await using relay = openHarness(two);
    await relay.client.initialize();
    const { text } = await relay.client.request("resources/read", { uri });
    expect(text).toContain(`"text":"${owner}"`);
    for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
      await relay.client.request(method, { uri });
      await relay.child(owner).take((message) => message.method === method);
    }
  });

  it("are not found with -32002 and the address when they belong to nobody", async () => {
    await using relay = openHarness({ ...two, c: { open: dead } });
    await relay.client.initialize();
    const { message } = await relay.client.request("resources/read", { uri: "nowhere://x" });
    expect(message.error).toMatchObject({ code: -32002, data: { uri: "nowhere://x" } });
    expect(message.error?.message).toContain("not available: c");
  });

  it("go to the only server that has any, whatever the address", async () => {
    await using relay = openHarness({ a: two.a, tools: { script: toolServer([]) } });
    await relay.client.initialize();
    const { text } = await relay.client.request("resources/read", { uri: "nowhere://x" });
    expect(text).toContain('"text":"a"');
  });

  it("of a server that cannot be asked give its reason when it is the only one that has any", async () => {
    await using relay = openHarness({ a: { open: dead }, tools: { script: toolServer([]) } });
    await relay.client.initialize();
    const { message } = await relay.client.request("resources/read", { uri: "x://y" });
    expect(message.error).toMatchObject({ code: -31102, data: { reason: "START_FAILED", server: "a" } });
  });

  it("stay with their server when its child is lost", async () => {
    await using relay = openHarness(two);
    await relay.client.initialize();
    await relay.client.request("resources/list");
    relay.child("a").exit(0);
    await expect.poll(() => relay.session.status()[0]?.state).toBe("gone");
    const { text } = await relay.client.request("resources/read", { uri: "shared://x" });
    expect(text).toContain('"text":"a"');
  });

  it("need a uri", async () => {
    await using relay = openHarness(two);
    await relay.client.initialize();
    const { message } = await relay.client.request("resources/read", { uri: 5 });
    expect(message.error?.code).toBe(-32602);
  });
});

describe("prompts", () => {
  it("have the prefix of their server", async () => {
    await using relay = openHarness(two);
    await relay.client.initialize();
    expect(namesIn(await relay.client.request("prompts/list"), "prompts")).toEqual(["a__greet", "b__greet"]);
    const { text } = await relay.client.request("prompts/get", { name: "b__greet" });
    expect(text).toContain('"text":"b"');
  });
});

describe("completions", () => {
  it.each([
    {
      ref: { type: "ref/prompt", name: "b__greet" },
      seen: '["b","{\\"type\\":\\"ref/prompt\\",\\"name\\":\\"greet\\"}"]',
    },
    {
      ref: { type: "ref/resource", uri: "web://{host}" },
      seen: '["b","{\\"type\\":\\"ref/resource\\",\\"uri\\":\\"web://{host}\\"}"]',
    },
    {
      ref: { type: "ref/resource", uri: "file:///one" },
      seen: '["a","{\\"type\\":\\"ref/resource\\",\\"uri\\":\\"file:///one\\"}"]',
    },
  ])("go to the server of $ref", async ({ ref, seen }) => {
    await using relay = openHarness(two);
    await relay.client.initialize();
    const { text } = await relay.client.request("completion/complete", { ref, argument: { name: "x", value: "" } });
    expect(text).toContain(seen);
  });

  it.each([{}, { ref: 5 }, { ref: { type: "ref/other" } }, { ref: { type: "ref/prompt" } }])(
    "answer -32602 for %j",
    async (params) => {
      await using relay = openHarness(two);
      await relay.client.initialize();
      const { message } = await relay.client.request("completion/complete", params);
      expect(message.error?.code).toBe(-32602);
    },
  );
});

describe("log levels", () => {
  const logging = (name: string): Script => ({
    ...resourceServer(name, []),
    initialize: introduction({ logging: {}, resources: {} }),
    "logging/setLevel": () => "{}",
  });

  it("are told to all children that log, and to those that start later", async () => {
    await using relay = openHarness({
      a: { script: logging("a") },
      b: { script: logging("b") },
      silent: { script: resourceServer("s", []) },
    });
    await relay.client.initialize();
    await relay.client.request("prompts/list");
    await relay.client.request("logging/setLevel", { level: "debug" });
    for (const server of ["a", "b"]) {
      const told = await relay.child(server).take(({ method }) => method === "logging/setLevel");
      expect(told.message.params).toEqual({ level: "debug" });
    }
    relay.child("a").exit(0);
    await expect.poll(() => relay.session.status()[0]?.state).toBe("gone");
    await relay.client.request("resources/list");
    await relay.child("a").take(({ method }) => method === "logging/setLevel");
    expect(relay.child("silent").received.some(({ message }) => message.method === "logging/setLevel")).toBe(false);
  });

  it("are refused when there is no such level", async () => {
    await using relay = openHarness({ a: { script: logging("a") }, b: { script: logging("b") } });
    await relay.client.initialize();
    const { message } = await relay.client.request("logging/setLevel", { level: "loud" });
    expect(message.error?.code).toBe(-32602);
  });
});

describe("tasks", () => {
  const tasking = (name: string): Script => ({
    initialize: introduction({ tools: {}, tasks: { list: {} } }),
    "tools/list": () => '{"tools":[{"name":"x"}]}',
    "tools/call": () => JSON.stringify({ task: { taskId: `${name}-1`, status: "working" } }),
    "tasks/get": ({ params }) => JSON.stringify({ taskId: params?.["taskId"], by: name }),
    "tasks/list": () => JSON.stringify({ tasks: [{ taskId: `${name}-1` }, { taskId: `${name}-2` }] }),
  });

  it("are asked of the server that created them, and listed together", async () => {
    await using relay = openHarness({ a: { script: tasking("a") }, b: { script: tasking("b") } });
    await relay.client.initialize();
    for (const name of ["a__x", "b__x"]) await relay.client.request("tools/call", { name, task: { ttl: 1 } });
    const { message } = await relay.client.request("tasks/get", { taskId: "b-1" });
    expect(message.result).toEqual({ taskId: "b-1", by: "b" });
    const list = await relay.client.request("tasks/list");
    expect(namesIn(list, "tasks", "taskId")).toEqual(["a-1", "a-2", "b-1", "b-2"]);
    expect((await relay.client.request("tasks/get", { taskId: "a-2" })).message.result?.["by"]).toBe("a");
    expect((await relay.client.request("tasks/get", { taskId: "c-1" })).message.error?.code).toBe(-32602);
  });
});

describe("methods that are not known", () => {
  it("go to a single server, and are not found among several", async () => {
    const script = { ...two.a.script, "x/future": () => '{"ok":1.0}' };
    await using one = openHarness({ a: { script } });
    await one.client.initialize();
    expect((await one.client.request("x/future", {}, 4)).text).toBe('{"jsonrpc":"2.0","id":4,"result":{"ok":1.0}}');
    await using many = openHarness({ a: { script }, b: two.b });
    await many.client.initialize();
    expect((await many.client.request("x/future")).message.error?.code).toBe(-32601);
  });
});
