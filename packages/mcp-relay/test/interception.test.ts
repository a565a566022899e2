import { describe, expect, it } from "vitest";
import type { CallInterception, InterceptedCall, Interceptor, RelayEvent } from "../src/index.js";
import { createManualScheduler } from "./support/manual-scheduler.js";
import { pinsOf } from "./support/pins.js";
import { openHarness } from "./support/relay-harness.js";
import { introduction, type Script, tool, toolServer } from "./support/scripted-server.js";

/** Does the same with every call. */
const always = (interception: CallInterception, seen: InterceptedCall[] = []): Interceptor => ({
  begin(call) {
    seen.push(call);
    return interception;
  },
});
const pass = async () => ({ kind: "pass" }) as const;
const tools = [tool("a"), tool("b")];
const fault = {
  kind: "refuse",
  reason: "NOT_NICE",
  message: "it is not nice",
  data: { code: "X1", server: "forged" },
} as const;
const ofType = (events: readonly RelayEvent[], type: string): unknown[] =>
  events.filter((event) => event.type === type);
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();
const call = (params: string, id = "1", method = "tools/call"): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;
/** What the server was sent for its calls. */
const callsOf = (relay: ReturnType<typeof openHarness>, method = "tools/call"): string[] =>
  relay
    .child("s")
    .received.filter(({ message }) => message.method === method)
    .map((one) => one.text);

describe("a request that is looked into", () => {
  it("leaves to the byte when it passes, and is shown by the server's own name", async () => {
    const seen: InterceptedCall[] = [];
    const shown: unknown[] = [];
    const before: CallInterception["before"] = async (request) => {
      shown.push(request);
      return { kind: "pass" };
    };
    await using relay = openHarness({ s: { script: toolServer(tools) } }, { interceptor: always({ before }, seen) });
    await relay.client.initialize();
    relay.client.send(call('{ "name":"s__a" , "arguments":{"n":1.0,"id":9007199254740993} ,"_meta":{"x":1.50} }'));
    await relay.client.take(({ id }) => id === 1);
    expect(callsOf(relay)).toEqual([
      expect.stringContaining(
        '"params":{ "name":"a" , "arguments":{"n":1.0,"id":9007199254740993} ,"_meta":{"x":1.50} }',
      ),
    ]);
    expect(seen).toEqual([{ server: "s", method: "tools/call", name: "a" }]);
    expect(shown).toEqual([{ name: "a", arguments: { n: 1, id: 9007199254740992 } }]);
    expect(ofType(relay.events, "call.intent")).toEqual([expect.objectContaining({ sent: undefined })]);
  });

  it.each([
    {
      name: "only what was changed, and keeps the digits of numbers",
      given: '"arguments":{"id":9007199254740993,"list":[1.0,{"t":"secret"}]},"_meta":{"x":1.50}',
      leaves: '"arguments":{"id":9007199254740993,"list":[1.0,{"t":"***"}]},"_meta":{"x":1.50}',
    },
    {
      name: "arguments that were not there",
      given: '"_meta":{}',
      leaves: '"arguments":{"list":[1,{"t":"***"}],"id":9007199254740992},"name":"a","_meta":{}',
    },
  ])("leaves with $name", async ({ given, leaves }) => {
    const before: CallInterception["before"] = async ({ arguments: { id = 9007199254740992 } }) => ({
      kind: "rewrite",
      arguments: given.includes("arguments") ? { id, list: [1, { t: "***" }] } : { list: [1, { t: "***" }], id },
    });
    await using relay = openHarness(
      { s: { script: toolServer(tools) } },
      { interceptor: always({ before, mark: "m" }) },
    );
    await relay.client.initialize();
    relay.client.send(call(`{"name":"s__a",${given}}`));
    await relay.client.take(({ id }) => id === 1);
    expect(callsOf(relay)[0]).toContain(leaves);
    const [intent] = relay.events.filter((event) => event.type === "call.intent");
    expect(intent).toMatchObject({ mark: "m", tool: "a" });
    expect(text(intent?.request)).toContain(given);
    expect(text(intent?.sent)).toContain(leaves);
    expect(text(intent?.sent)).toContain('"id":1,');
  });

  it("keeps a member `__proto__` as one like any other", async () => {
    const before: CallInterception["before"] = async (request) => ({ kind: "rewrite", arguments: request.arguments });
    await using relay = openHarness({ s: { script: toolServer(tools) } }, { interceptor: always({ before }) });
    await relay.client.initialize();
    relay.client.send(call('{"name":"s__a","arguments":{"__proto__":{"x":1}}}'));
    await relay.client.take(({ id }) => id === 1);
    expect(callsOf(relay)[0]).toContain('"arguments":{"__proto__":{"x":1}}');
  });

  it("that is refused gets the error, never leaves, and is recorded as refused", async () => {
    const interceptor = always({ before: async () => fault, mark: "m" });
    await using relay = openHarness({ s: { script: toolServer(tools) } }, { interceptor });
    await relay.client.initialize();
    const { message } = await relay.client.request("tools/call", { name: "s__a" });
    const data = { reason: "NOT_NICE", server: "s", code: "X1" };
    expect(message.error).toEqual({ code: -31103, message: "it is not nice", data });
    expect(callsOf(relay)).toEqual([]);
    expect(ofType(relay.events, "call.refused")).toMatchObject([
      { mark: "m", code: -31103, reason: "NOT_NICE", tool: "a" },
    ]);
    expect(ofType(relay.events, "call.intent")).toEqual([]);
  });

  it.each([
    { name: "a member twice", params: '{"name":"s__a","arguments":{"x":1,"x":2}}' },
    { name: "a member twice, escaped", params: '{"name":"s__a","arguments":{"x":1,"\\u0078":2}}' },
    { name: "no object", params: '{"name":"s__a","arguments":[]}' },
    { name: "a number beyond all", params: '{"name":"s__a","arguments":{"x":1e999}}' },
    { name: "arguments twice", params: '{"name":"s__a","arguments":{},"arguments":{"x":1}}' },
  ])(
    "is refused when its arguments are $name: another parser could read what was not looked into",
    async ({ params }) => {
      await using relay = openHarness({ s: { script: toolServer(tools) } }, { interceptor: always({ before: pass }) });
      await relay.client.initialize();
      relay.client.send(call(params));
      const { message } = await relay.client.take(({ id }) => id === 1);
      expect([-32602, -32600]).toContain(message.error?.code);
      expect(relay.started("s").flatMap(() => callsOf(relay))).toEqual([]);
    },
  );
});

describe("a name that is changed", () => {
  const rename = (name: string) => always({ before: async () => ({ kind: "rewrite", name }) as const });

  it.each([
    { name: "goes where the pins let it", to: "b", tools: { pinned: pinsOf(tools) }, error: undefined },
    { name: "is refused when it is denied", to: "b", tools: { deny: ["b"] }, error: "TOOL_DENIED" },
    { name: "is refused when it is not allowed", to: "b", tools: { allow: ["a"] }, error: "TOOL_DENIED" },
    {
      name: "is refused when it was never pinned",
      to: "b",
      tools: { pinned: pinsOf([tool("a")]) },
      error: "TOOL_NOT_PINNED",
    },
    {
      name: "is refused when it differs from its pin",
      to: "b",
      tools: { pinned: pinsOf([tool("a"), tool("b", "other")]) },
      error: "TOOL_CHANGED",
    },
    { name: "is refused when it leads nowhere", to: "c", tools: { pinned: pinsOf(tools) }, error: "UNKNOWN_TOOL" },
  ])("$name", async ({ to, tools: policy, error }) => {
    await using relay = openHarness({ s: { script: toolServer(tools), tools: policy } }, { interceptor: rename(to) });
    await relay.client.initialize();
    const { message } = await relay.client.request("tools/call", { name: "s__a" });
    expect(message.error?.data?.["reason"]).toBe(error);
    if (error === undefined) expect(callsOf(relay)[0]).toContain('"name":"b"');
    else expect(callsOf(relay)).toEqual([]);
  });

  it("of a tool whose definition changes meanwhile is compared anew", async () => {
    let release: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      release = resolve;
    });
    let listed = [...tools];
    const script = toolServer([], { "tools/list": () => JSON.stringify({ tools: listed }) });
    const interceptor = always({
      before: async () => {
        await asked;
        return { kind: "pass" };
      },
    });
    await using relay = openHarness({ s: { script, tools: { pinned: pinsOf(tools) } } }, { interceptor });
    await relay.client.initialize();
    const answer = relay.client.request("tools/call", { name: "s__a" });
    await expect.poll(() => relay.started("s").length).toBe(1);
    listed = [tool("a", "something else"), tool("b")];
    relay.child("s").send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    await relay.client.take(({ method }) => method === "notifications/tools/list_changed");
    release();
    expect((await answer).message.error?.data?.["reason"]).toBe("TOOL_CHANGED");
    expect(callsOf(relay)).toEqual([]);
  });

  it("of a resource has to be the same server's", async () => {
    const script = (uri: string): Script => ({
      initialize: introduction({ resources: {} }),
      "resources/list": () => JSON.stringify({ resources: [{ uri, name: uri }] }),
      "resources/templates/list": () => '{"resourceTemplates":[]}',
      "resources/read": ({ params }) => JSON.stringify({ contents: [{ uri: params?.["uri"], text: "t" }] }),
    });
    await using relay = openHarness(
      { s: { script: script("x:1") }, t: { script: script("y:1") } },
      { interceptor: rename("y:1") },
    );
    await relay.client.initialize();
    const { message } = await relay.client.request("resources/read", { uri: "x:1" });
    expect(message.error).toMatchObject({ code: -31103, data: { reason: "INTERCEPTION_LEFT_SERVER", server: "s" } });
  });
});

describe("a result that is looked into", () => {
  it("reaches the client to the byte when it passes", async () => {
    const result = '{ "content":[] ,"n":9007199254740993}';
    const script = toolServer(tools, { "tools/call": () => result });
    await using relay = openHarness({ s: { script } }, { interceptor: always({ after: pass }) });
    await relay.client.initialize();
    expect((await relay.client.request("tools/call", { name: "s__a" }, 7)).text).toBe(
      `{"jsonrpc":"2.0","id":7,"result":${result}}`,
    );
    expect(ofType(relay.events, "call.outcome")).toMatchObject([{ status: "result", received: undefined }]);
  });

  it("is given as it was changed, and both are recorded", async () => {
    const script = toolServer(tools, { "tools/call": () => '{"n":9007199254740993,"content":"secret"}' });
    const after: CallInterception["after"] = async (result) => ({
      kind: "rewrite",
      result: { ...result, content: "***" },
    });
    await using relay = openHarness({ s: { script } }, { interceptor: always({ after }) });
    await relay.client.initialize();
    const answer = await relay.client.request("tools/call", { name: "s__a" }, 7);
    expect(answer.text).toBe('{"jsonrpc":"2.0","id":7,"result":{"n":9007199254740993,"content":"***"}}');
    await expect.poll(() => ofType(relay.events, "call.outcome").length).toBe(1);
    const [outcome] = relay.events.filter((event) => event.type === "call.outcome");
    expect(text(outcome?.received)).toBe('{"jsonrpc":"2.0","id":7,"result":{"n":9007199254740993,"content":"secret"}}');
    expect(text(outcome?.response)).toBe(answer.text);
  });

  it("that is refused is an error for the client, and a denied outcome", async () => {
    await using relay = openHarness(
      { s: { script: toolServer(tools) } },
      { interceptor: always({ after: async () => fault }) },
    );
    await relay.client.initialize();
    const { message } = await relay.client.request("tools/call", { name: "s__a" });
    expect(message.error).toMatchObject({ code: -31103, data: { reason: "NOT_NICE", code: "X1" } });
    expect(ofType(relay.events, "call.outcome")).toMatchObject([{ status: "denied", reason: "NOT_NICE" }]);
  });

  it.each([
    { name: "a member twice", result: '{"content":"ok","content":"secret"}' },
    { name: "no object", result: '["secret"]' },
  ])("is refused when it is $name", async ({ result }) => {
    const script = toolServer(tools, { "tools/call": () => result });
    await using relay = openHarness({ s: { script } }, { interceptor: always({ after: pass }) });
    await relay.client.initialize();
    const answer = await relay.client.request("tools/call", { name: "s__a" });
    expect(answer.message.error?.data?.["reason"]).toBe("INTERCEPTION_FAILED");
    expect(answer.text).not.toContain("secret");
  });

  it("of a task is looked into when it is asked for; of a task that nobody made here, it is not given", async () => {
    const script = toolServer(tools, {
      initialize: introduction({ tools: {}, tasks: {} }),
      "tools/call": () => '{"task":{"taskId":"t1"}}',
      "tasks/result": () => '{"content":"secret"}',
      "tasks/list": () => '{"tasks":[{"taskId":"other"}]}',
    });
    const after: CallInterception["after"] = async (result) =>
      "content" in result ? { kind: "rewrite", result: { content: "***" } } : { kind: "pass" };
    await using relay = openHarness({ s: { script } }, { interceptor: always({ after }) });
    await relay.client.initialize();
    await relay.client.request("tools/call", { name: "s__a", task: {} });
    expect((await relay.client.request("tasks/result", { taskId: "t1" })).message.result).toEqual({ content: "***" });
    await relay.client.request("tasks/list", {});
    const other = await relay.client.request("tasks/result", { taskId: "other" });
    expect(other.message.error?.data?.["reason"]).toBe("UNKNOWN_TASK");
  });
});

describe("while calls are looked into", () => {
  const never = () => new Promise<never>(() => undefined);

  it("others pass: calls that are not looked into, progress and log messages", async () => {
    const interceptor: Interceptor = { begin: ({ name }) => (name === "a" ? { before: never } : undefined) };
    const script = toolServer(tools, { "tools/call": () => undefined });
    await using relay = openHarness({ s: { script } }, { interceptor });
    await relay.client.initialize();
    relay.client.send(call('{"name":"s__a"}', "1"));
    relay.client.send(call('{"name":"s__b","_meta":{"progressToken":"p"}}', "2"));
    await expect.poll(() => relay.started("s").length && callsOf(relay).length).toBe(1);
    const child = relay.child("s");
    child.send({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } });
    child.send({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: "p", progress: 1 } });
    await relay.client.take(({ method }) => method === "notifications/message");
    await relay.client.take(({ method }) => method === "notifications/progress");
  });

  it.each(["before", "after"] as const)("a cancellation ends the look %s, and no answer follows", async (when) => {
    let signal: AbortSignal | undefined;
    const look = (_: unknown, wait: { readonly signal: AbortSignal }): Promise<never> => {
      signal = wait.signal;
      return never();
    };
    await using relay = openHarness(
      { s: { script: toolServer(tools) } },
      { interceptor: always({ [when]: look, mark: "m" }), limits: { maxPendingCalls: 1 } },
    );
    await relay.client.initialize();
    relay.client.send(call('{"name":"s__a"}'));
    await expect.poll(() => signal?.aborted).toBe(false);
    relay.client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    await expect.poll(() => signal?.aborted).toBe(true);
    await expect.poll(async () => (await relay.client.request("ping")).message.result).toEqual({});
    expect(relay.client.received.filter(({ message }) => message.id === 1)).toEqual([]);
    const outcomes = ofType(relay.events, "call.outcome");
    expect(outcomes).toMatchObject(when === "before" ? [] : [{ status: "cancelled" }]);
    const takenBack = { server: "s", method: "tools/call", tool: "a", mark: "m" };
    expect(ofType(relay.events, "call.cancelled")).toMatchObject(when === "before" ? [takenBack] : []);
    expect(relay.notices).toEqual([]);
  });

  it.each(["before", "after"] as const)("one that hangs %s costs its time and no more", async (when) => {
    const scheduler = createManualScheduler();
    let asked = 0;
    const look = (): Promise<never> => {
      asked += 1;
      return never();
    };
    await using relay = openHarness(
      { s: { script: toolServer(tools) } },
      { interceptor: always({ [when]: look }), scheduler, limits: { interceptMs: 500 } },
    );
    await relay.client.initialize();
    const answer = relay.client.request("tools/call", { name: "s__a" });
    await expect.poll(() => asked).toBe(1);
    scheduler.advance(500);
    expect((await answer).message.error).toMatchObject({ code: -31103, data: { reason: "INTERCEPTION_TIMEOUT" } });
    expect((await relay.client.request("ping")).message.result).toEqual({});
  });

  it.each([
    {
      name: "begins by throwing",
      interceptor: {
        begin: () => {
          throw new Error("private words");
        },
      },
    },
    {
      name: "throws before",
      interceptor: always({
        before: () => {
          throw new Error("private words");
        },
      }),
    },
    { name: "rejects before", interceptor: always({ before: () => Promise.reject(new Error("private words")) }) },
    { name: "rejects after", interceptor: always({ after: () => Promise.reject(new Error("private words")) }) },
  ])("one that $name refuses the call and tells the operator, not the client", async ({ interceptor }) => {
    await using relay = openHarness({ s: { script: toolServer(tools) } }, { interceptor });
    await relay.client.initialize();
    const answer = await relay.client.request("tools/call", { name: "s__a" });
    expect(answer.message.error).toMatchObject({ code: -31103, data: { reason: "INTERCEPTION_FAILED" } });
    expect(answer.text).not.toContain("private");
    expect(relay.notices).toMatchObject([
      { code: "INTERCEPTION_FAILED", message: expect.stringContaining("private words") },
    ]);
  });

  it.each(["before", "after"] as const)("the end of the session ends the look %s", async (when) => {
    let signal: AbortSignal | undefined;
    const look = (_: unknown, wait: { readonly signal: AbortSignal }): Promise<never> => {
      signal = wait.signal;
      return never();
    };
    await using relay = openHarness({ s: { script: toolServer(tools) } }, { interceptor: always({ [when]: look }) });
    await relay.client.initialize();
    relay.client.send(call('{"name":"s__a"}'));
    await expect.poll(() => signal?.aborted).toBe(false);
    await relay.session.close();
    expect(signal?.aborted).toBe(true);
  });

  it("servers are not read while too many bytes of answers wait, and are again afterwards", async () => {
    const releases: (() => void)[] = [];
    const after: CallInterception["after"] = () =>
      new Promise((resolve) => releases.push(() => resolve({ kind: "pass" })));
    const script = toolServer(tools, { "tools/call": () => JSON.stringify({ content: "x".repeat(2_000) }) });
    await using relay = openHarness(
      { s: { script } },
      { interceptor: always({ after }), limits: { maxHeldBytes: 1_024 } },
    );
    await relay.client.initialize();
    const answers = [1, 2, 3, 4, 5, 6].map((id) => relay.client.request("tools/call", { name: "s__a" }, id));
    await expect.poll(() => releases.length).toBeGreaterThan(0);
    await relay.client.request("ping");
    // What was on its way when the reading stopped still comes.
    expect(releases.length).toBeLessThan(6);
    for (let turn = 1; turn <= 6; turn += 1) {
      await expect.poll(() => releases.length).toBeGreaterThanOrEqual(turn);
      releases[turn - 1]?.();
    }
    expect((await Promise.all(answers)).map(({ message }) => message.result !== undefined)).toEqual(
      Array(6).fill(true),
    );
  });
});

describe("what nobody looks into", () => {
  it("is not asked about: lists, completions, pings, errors of servers", async () => {
    const seen: InterceptedCall[] = [];
    const after: CallInterception["after"] = async () => fault;
    const script = toolServer(tools, {
      initialize: introduction({ tools: {}, completions: {} }),
      "tools/call": () => {
        throw new Error("no");
      },
    });
    const { "tools/call": _, ...silent } = script;
    await using relay = openHarness({ s: { script: silent } }, { interceptor: always({ after }, seen) });
    await relay.client.initialize();
    await relay.client.request("tools/list");
    await relay.client.request("completion/complete", {
      ref: { type: "ref/prompt", name: "s__p" },
      argument: { name: "x", value: "" },
    });
    expect(seen).toEqual([]);
    expect((await relay.client.request("tools/call", { name: "s__a" })).message.error?.code).toBe(-32601);
    expect(seen.length).toBe(1);
  });
});
