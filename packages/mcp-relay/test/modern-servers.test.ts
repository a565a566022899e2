import { legacyRevisions } from "@berth/mcp-server/protocol";
import { describe, expect, it } from "vitest";
import type { RelayOptions } from "../src/index.js";
import { createManualScheduler } from "./support/manual-scheduler.js";
import { complete, modernServer } from "./support/modern-server.js";
import { type Harness, openHarness } from "./support/relay-harness.js";
import type { Script } from "./support/scripted-server.js";

const metaOf = (params: { readonly [key: string]: unknown } | undefined): unknown => params?.["_meta"];
const prefix = "io.modelcontextprotocol/";

async function open(more: Script = {}, hello: object = {}, options: Partial<RelayOptions> = {}): Promise<Harness> {
  const relay = openHarness({ a: { script: modernServer(more) } }, { names: "plain", ...options });
  await relay.client.initialize(hello);
  await relay.client.request("tools/list");
  return relay;
}

/** The next request of this method at the server. */
const asked = (relay: Harness, method: string) => relay.child("a").take((message) => message.method === method, method);

describe("a server of 2026-07-28 alone, for clients of older revisions", () => {
  it.each(legacyRevisions)("introduces itself to a client of %s", async (protocolVersion) => {
    await using relay = openHarness({ a: { script: modernServer() } }, { passThroughInitialize: true });
    const { message } = await relay.client.initialize({ protocolVersion });
    expect(message.result).toEqual({
      protocolVersion,
      capabilities: { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true }, logging: {} },
      serverInfo: { name: "new", version: "3.1.4" },
      instructions: "be kind",
    });
  });

  it("gets with each request who asks, and what that client can do in 2026-07-28", async () => {
    const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true }, tasks: { list: {} } };
    await using relay = await open({}, { capabilities });
    await relay.client.request("tools/call", { name: "x", arguments: {}, _meta: { mine: 1 } });
    const { message } = await asked(relay, "tools/call");
    expect(metaOf(message.params)).toEqual({
      [`${prefix}protocolVersion`]: "2026-07-28",
      [`${prefix}clientCapabilities`]: { sampling: {}, elicitation: { form: {} }, roots: {} },
      [`${prefix}clientInfo`]: { name: "test-client", version: "0.1.0" },
      mine: 1,
    });
  });

  it("takes no word of the client for what the relay says", async () => {
    await using relay = await open();
    const forged = { [`${prefix}clientCapabilities`]: { sampling: {} }, keep: true };
    await relay.client.request("tools/call", { name: "x", _meta: forged });
    const { text, message } = await asked(relay, "tools/call");
    expect(metaOf(message.params)).toMatchObject({ [`${prefix}clientCapabilities`]: {}, keep: true });
    expect(text.split("clientCapabilities").length).toBe(2);
  });

  it("is answered to the byte, but for the id and what older revisions do not know", async () => {
    const content = '"content":[],"big":9007199254740993,"y":1.0,"_meta":{"z":1e0}';
    await using relay = await open({
      "tools/call": () => `{"ttlMs":5,${content},"resultType":"complete","cacheScope":"private"}`,
    });
    const { text } = await relay.client.request("tools/call", { name: "x" }, "mine");
    expect(text).toBe(`{"jsonrpc":"2.0","id":"mine","result":{${content}}}`);
  });

  it("keeps the arguments of a call to the byte", async () => {
    await using relay = await open();
    relay.client.send(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"n":1.0,"b":9007199254740993}}}',
    );
    const { text } = await asked(relay, "tools/call");
    expect(text).toContain('"name":"x","arguments":{"n":1.0,"b":9007199254740993}');
  });

  it("is never asked what 2026-07-28 does not have", async () => {
    await using relay = await open();
    expect((await relay.client.request("ping")).message.result).toEqual({});
    expect((await relay.client.request("logging/setLevel", { level: "warning" })).message.result).toEqual({});
    await relay.client.request("tools/call", { name: "x" });
    const { message } = await asked(relay, "tools/call");
    expect(metaOf(message.params)).toMatchObject({ [`${prefix}logLevel`]: "warning" });
    const methods = relay.child("a").received.map((one) => one.message.method);
    expect(methods).not.toContain("ping");
    expect(methods).not.toContain("logging/setLevel");
    expect(methods).not.toContain("notifications/initialized");
  });

  it("has a resource that is missing told by the code of older revisions", async () => {
    await using relay = await open({ "resources/read": () => undefined });
    const reading = relay.client.request("resources/read", { uri: "file:///none" });
    const { message } = await asked(relay, "resources/read");
    relay.child("a").send({
      jsonrpc: "2.0",
      id: message.id,
      error: { code: -32602, message: "Resource not found", data: { uri: "file:///none" } },
    });
    expect((await reading).message.error).toMatchObject({ code: -32002, data: { uri: "file:///none" } });
  });

  it.each(["task", "surprise"])("whose result is of the type %s costs that call only", async (resultType) => {
    await using relay = await open({ "tools/call": () => `{"resultType":"${resultType}","taskId":"1"}` });
    const { message } = await relay.client.request("tools/call", { name: "x" });
    expect(message.error).toMatchObject({
      code: -31102,
      message: expect.stringContaining(resultType),
      data: { reason: "ANSWER_UNUSABLE", server: "a" },
    });
    expect((await relay.client.request("tools/list")).message.result).toBeDefined();
  });
});

describe("what refuses initialize and is no server of 2026-07-28", () => {
  it.each([
    { name: "does not know server/discover", script: {} },
    { name: "answers it with something else", script: { "server/discover": () => "{}" } },
  ])("and $name fails with its own refusal", async ({ script }) => {
    await using relay = openHarness({ a: { script } });
    await relay.client.initialize();
    const { message } = await relay.client.request("tools/call", { name: "a__x" });
    expect(message.error?.data).toMatchObject({ reason: "INITIALIZE_FAILED" });
  });
});

describe("questions of a server of 2026-07-28", () => {
  const form =
    '{"method":"elicitation/create","params":{"mode":"form","message":"Sure?","requestedSchema":{"type":"object"}}}';
  const asks = (questions: string, state?: string): string =>
    `{"resultType":"input_required","inputRequests":${questions}${state === undefined ? "" : `,"requestState":${state}`}}`;
  const everything = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };
  /** Asks once, then gives what it was given. */
  const askingOnce = (answer: string): Script => ({
    "tools/call": ({ params }) =>
      params?.["inputResponses"] === undefined && params?.["requestState"] === undefined
        ? answer
        : complete(`"content":[],"got":${JSON.stringify(params)}`),
  });

  it("reach the client as requests, and the call goes on with the answers and the state", async () => {
    const script = askingOnce(asks(`{"a":${form},"b":{"method":"roots/list"}}`, '"st\\u0041te"'));
    await using relay = await open(script, { capabilities: everything });
    const calling = relay.client.request("tools/call", { name: "x", arguments: { deep: [1] } });
    const elicit = await relay.client.take(({ method }) => method === "elicitation/create");
    const roots = await relay.client.take(({ method }) => method === "roots/list");
    expect(elicit.message.params).toEqual({ mode: "form", message: "Sure?", requestedSchema: { type: "object" } });
    relay.client.send({ jsonrpc: "2.0", id: roots.message.id, result: { roots: [] } });
    relay.client.send(`{"jsonrpc":"2.0","id":${elicit.message.id},"result":{"action":"accept","content":{"n":1.0}}}`);
    const { message } = await calling;
    expect(message.result?.["got"]).toMatchObject({
      name: "x",
      arguments: { deep: [1] },
      inputResponses: { a: { action: "accept", content: { n: 1 } }, b: { roots: [] } },
      requestState: "stAte",
    });
    expect(message.result).not.toHaveProperty("resultType");
    const [, second] = relay.child("a").received.filter(({ message: { method } }) => method === "tools/call");
    expect(second?.text).toContain('"requestState":"st\\u0041te"');
    expect(second?.text).toContain('{"action":"accept","content":{"n":1.0}}');
  });

  it("with a state and no question are answered by asking again", async () => {
    await using relay = await open(askingOnce('{"resultType":"input_required","requestState":"s"}'));
    const { message } = await relay.client.request("tools/call", { name: "x" });
    expect(message.result?.["got"]).toMatchObject({ requestState: "s" });
    expect(message.result?.["got"]).not.toHaveProperty("inputResponses");
  });

  it("to open an address have the id that 2025-11-25 wants", async () => {
    const url = '{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://x.example/"}}';
    await using relay = await open(askingOnce(asks(`{"u":${url}}`)), { capabilities: everything });
    const calling = relay.client.request("tools/call", { name: "x" });
    const { message } = await relay.client.take(({ method }) => method === "elicitation/create");
    expect(message.params).toMatchObject({ mode: "url", url: "https://x.example/", elicitationId: expect.any(String) });
    relay.client.send({ jsonrpc: "2.0", id: message.id, result: { action: "decline" } });
    expect((await calling).message.result?.["got"]).toMatchObject({ inputResponses: { u: { action: "decline" } } });
  });

  it.each([
    { name: "sampling", question: '{"method":"sampling/createMessage","params":{}}' },
    { name: "an address to open", question: '{"method":"elicitation/create","params":{"mode":"url"}}' },
    { name: "a method that no client has", question: '{"method":"shell/run","params":{}}' },
    { name: "a question without a method", question: "{}" },
    { name: "a question that is none", question: "1" },
  ])("for $name, which the client did not offer, fail the call and ask nobody", async ({ question }) => {
    await using relay = await open(askingOnce(asks(`{"q":${question}}`)), {
      capabilities: { elicitation: { form: {} } },
    });
    const { message } = await relay.client.request("tools/call", { name: "x" });
    expect(message.error?.data).toMatchObject({ reason: "ANSWER_UNUSABLE" });
    expect(relay.client.received.filter((one) => one.message.method !== undefined)).toEqual([]);
  });

  it("that the client refuses to answer count as cancelled, where that can be said", async () => {
    const script = askingOnce(asks(`{"a":${form}}`));
    await using relay = await open(script, { capabilities: everything });
    const calling = relay.client.request("tools/call", { name: "x" });
    const { message } = await relay.client.take(({ method }) => method === "elicitation/create");
    relay.client.send({ jsonrpc: "2.0", id: message.id, error: { code: -1, message: "no" } });
    expect((await calling).message.result?.["got"]).toMatchObject({ inputResponses: { a: { action: "cancel" } } });
  });

  it("that the client refuses to answer fail the call elsewhere, and take the others back", async () => {
    const script = askingOnce(asks(`{"r":{"method":"roots/list"},"a":${form}}`));
    await using relay = await open(script, { capabilities: everything });
    const calling = relay.client.request("tools/call", { name: "x" });
    const elicit = await relay.client.take(({ method }) => method === "elicitation/create");
    const roots = await relay.client.take(({ method }) => method === "roots/list");
    relay.client.send({ jsonrpc: "2.0", id: roots.message.id, error: { code: -1, message: "no roots here" } });
    expect((await calling).message.error?.message).toContain("no roots here");
    const gone = await relay.client.take(({ method }) => method === "notifications/cancelled");
    expect(gone.message.params?.["requestId"]).toBe(elicit.message.id);
  });

  it("without end are ended", async () => {
    let times = 0;
    const script: Script = {
      "tools/call": () => {
        times += 1;
        return '{"resultType":"input_required","requestState":"again"}';
      },
    };
    await using relay = await open(script);
    const { message } = await relay.client.request("tools/call", { name: "x" });
    expect(message.error?.message).toContain("more than 16 times");
    expect(times).toBe(17);
  });

  it("of a call that the client takes back are taken back too", async () => {
    await using relay = await open(askingOnce(asks(`{"a":${form}}`)), { capabilities: everything });
    relay.client.send({ jsonrpc: "2.0", id: "call", method: "tools/call", params: { name: "x" } });
    const elicit = await relay.client.take(({ method }) => method === "elicitation/create");
    relay.client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "call" } });
    const gone = await relay.client.take(({ method }) => method === "notifications/cancelled");
    expect(gone.message.params?.["requestId"]).toBe(elicit.message.id);
  });

  it("are not for lists", async () => {
    await using relay = await open(
      { "completion/complete": () => asks(`{"a":${form}}`) },
      { capabilities: everything },
    );
    const { message } = await relay.client.request("completion/complete", {
      ref: { type: "ref/prompt", name: "p" },
      argument: { name: "n", value: "" },
    });
    expect(message.error?.message).toContain("completion/complete");
  });
});

describe("cancelling at a server of 2026-07-28", () => {
  it("names the call as the server knows it, and its late answer reaches nobody", async () => {
    await using relay = await open({ "tools/call": () => undefined });
    relay.client.send({ jsonrpc: "2.0", id: "c", method: "tools/call", params: { name: "x" } });
    const call = await asked(relay, "tools/call");
    relay.client.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "c" } });
    const cancelled = await asked(relay, "notifications/cancelled");
    expect(cancelled.message.params?.["requestId"]).toBe(call.message.id);
    relay.child("a").send({ jsonrpc: "2.0", id: call.message.id, result: { resultType: "complete", content: [] } });
    expect((await relay.client.request("tools/list")).message.result).toBeDefined();
    expect(relay.client.received.filter(({ message }) => message.id === "c")).toEqual([]);
  });
});

describe("what a server of 2026-07-28 tells without being asked", () => {
  const listening = (relay: Harness) => asked(relay, "subscriptions/listen");
  const acknowledge = (relay: Harness, id: unknown, notifications: object): void =>
    relay.child("a").send({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { notifications, _meta: { [`${prefix}subscriptionId`]: id } },
    });
  const script: Script = {
    "subscriptions/listen": () => undefined,
    "resources/list": () => complete('"resources":[]'),
  };

  it("is asked for once the session is open, and changes of lists reach the client", async () => {
    await using relay = await open(script);
    const { message } = await listening(relay);
    expect(message.params?.["notifications"]).toEqual({ toolsListChanged: true, resourcesListChanged: true });
    acknowledge(relay, message.id, { toolsListChanged: true });
    relay.child("a").send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    await relay.client.take(({ method }) => method === "notifications/tools/list_changed");
    expect(relay.client.received.filter((one) => one.message.method?.includes("acknowledged"))).toEqual([]);
  });

  it("is asked for anew with each subscription, and the stream of before ends only then", async () => {
    await using relay = await open(script);
    const first = await listening(relay);
    acknowledge(relay, first.message.id, { toolsListChanged: true });
    const subscribing = relay.client.request("resources/subscribe", { uri: "file:///a" });
    const second = await listening(relay);
    expect(second.message.params?.["notifications"]).toMatchObject({ resourceSubscriptions: ["file:///a"] });
    acknowledge(relay, second.message.id, { resourceSubscriptions: ["file:///a"] });
    expect((await subscribing).message.result).toEqual({});
    const ended = await asked(relay, "notifications/cancelled");
    expect(ended.message.params?.["requestId"]).toBe(first.message.id);
    relay.child("a").send({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "file:///a" } });
    await relay.client.take(({ method }) => method === "notifications/resources/updated");
    await relay.client.request("resources/unsubscribe", { uri: "file:///a" });
    const third = await listening(relay);
    expect(third.message.params?.["notifications"]).not.toHaveProperty("resourceSubscriptions");
  });

  it("that is not taken is an error of the subscription", async () => {
    await using relay = await open(script);
    const first = await listening(relay);
    acknowledge(relay, first.message.id, {});
    const subscribing = relay.client.request("resources/subscribe", { uri: "file:///b" });
    const second = await listening(relay);
    acknowledge(relay, second.message.id, { resourceSubscriptions: [] });
    expect((await subscribing).message.error).toMatchObject({ code: -32602, data: { uri: "file:///b" } });
  });

  it("ends in streams without end: they are asked for ever more rarely, and a bounded number of times", async () => {
    const scheduler = createManualScheduler();
    let times = 0;
    const ending: Script = {
      "subscriptions/listen": ({ id }, server) => {
        times += 1;
        server.send({
          jsonrpc: "2.0",
          method: "notifications/subscriptions/acknowledged",
          params: { notifications: {}, _meta: { [`${prefix}subscriptionId`]: id } },
        });
        return complete('"_meta":{}');
      },
    };
    await using relay = await open(ending, {}, { scheduler });
    const asked: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      await relay.client.request("tools/list"); // What the server sent before its answer has been taken.
      asked.push(times);
      scheduler.advance(60_000);
    }
    expect(asked).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9]);
  });

  it("is asked for anew when a stream has lasted and ends, as often as that happens", async () => {
    const scheduler = createManualScheduler();
    await using relay = await open(script, {}, { scheduler });
    for (let round = 0; round < 20; round += 1) {
      const { message } = await listening(relay);
      acknowledge(relay, message.id, { toolsListChanged: true });
      await relay.client.request("tools/list");
      scheduler.advance(3_600_000);
      relay.child("a").send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: message.id } });
      await relay.client.request("tools/list");
      scheduler.advance(1_000);
    }
  });
});

describe("a hostile server of 2026-07-28", () => {
  it("that asks in requests is refused, and nobody is asked", async () => {
    await using relay = await open();
    relay.child("a").send({ jsonrpc: "2.0", id: "berth-1", method: "sampling/createMessage", params: {} });
    const { message } = await relay.child("a").take(({ error }) => error !== undefined);
    expect(message).toMatchObject({ id: "berth-1", error: { code: -32600 } });
    expect(relay.client.received.filter((one) => one.message.method === "sampling/createMessage")).toEqual([]);
  });

  it.each(['"berth-4000"', '"berth-01"', "7", '"x"'])(
    "that answers to the id %s, which was never used, is ended",
    async (id) => {
      await using relay = await open({ "tools/call": () => undefined });
      const calling = relay.client.request("tools/call", { name: "x" });
      await asked(relay, "tools/call");
      relay.child("a").send(`{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete"}}`);
      expect((await calling).message.error?.data).toMatchObject({ reason: "CHILD_DESYNCHRONIZED" });
    },
  );
});
