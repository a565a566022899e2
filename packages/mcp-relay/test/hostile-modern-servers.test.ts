import type { OversizeFrame } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { inspectServer, type RelayOptions, type UpstreamConnection } from "../src/index.js";
import { createWantedResources } from "../src/modern/wanted-resources.js";
import { createDirectTransport } from "./support/direct-transport.js";
import { createManualScheduler } from "./support/manual-scheduler.js";
import { complete, modernServer } from "./support/modern-server.js";
import { pinsOf } from "./support/pins.js";
import { type Harness, openHarness } from "./support/relay-harness.js";
import { openScripted, type Script } from "./support/scripted-server.js";

const everything = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };
const manyMembers = Array.from({ length: 65_537 }, (_, index) => `"m${index}":0`).join(",");

async function open(more: Script = {}, hello: object = {}, options: Partial<RelayOptions> = {}): Promise<Harness> {
  const relay = openHarness({ a: { script: modernServer(more) } }, { names: "plain", ...options });
  await relay.client.initialize({ capabilities: everything, ...hello });
  await relay.client.request("tools/list");
  return relay;
}
const asked = (relay: Harness, method: string) => relay.child("a").take((message) => message.method === method, method);
const works = async (relay: Harness): Promise<void> => {
  expect((await relay.client.request("tools/list")).message.result).toBeDefined();
  expect(relay.started("a").length).toBe(1);
};
const asks = (questions: string): string => `{"resultType":"input_required","inputRequests":${questions}}`;
const form = '{"method":"elicitation/create","params":{"message":"Sure?","requestedSchema":{"type":"object"}}}';
const firstTime = (answer: string): Script => ({
  "tools/call": ({ params }) =>
    params?.["inputResponses"] === undefined
      ? answer
      : complete(`"content":[],"got":${JSON.stringify(params["inputResponses"])}`),
});

describe("an answer of a server of 2026-07-28 costs its call and nothing else, when", () => {
  it.each([
    { name: "it has more members than are looked at", result: `{${manyMembers}}` },
    { name: "it asks more than are looked at", result: asks(`{${manyMembers}}`) },
    { name: "it asks 33 questions", result: asks(`{${Array.from({ length: 33 }, (_, i) => `"q${i}":${form}`)}}`) },
    { name: "it asks for nothing", result: asks("{}") },
    {
      name: "its question has too many members",
      result: asks(`{"q":{"method":"roots/list","params":{${manyMembers}}}}`),
    },
    { name: "its questions are null", result: asks("null") },
    { name: "its question has a list for params", result: asks('{"q":{"method":"roots/list","params":[1]}}') },
    { name: "its question has a number for params", result: asks('{"q":{"method":"roots/list","params":5}}') },
    { name: "two questions have one name", result: asks(`{"q":${form},"q":${form}}`) },
    {
      name: "a question has two modes",
      result: asks('{"q":{"method":"elicitation/create","params":{"mode":"url","mode":"form"}}}'),
    },
    { name: "a question has two methods", result: asks('{"q":{"method":"shell/run","method":"roots/list"}}') },
    {
      name: "its mode is of every object",
      result: asks('{"q":{"method":"elicitation/create","params":{"mode":"__proto__"}}}'),
    },
    { name: "its method is of every object", result: asks('{"q":{"method":"__proto__"}}') },
    { name: "its type is a number", result: '{"resultType":5,"content":[]}' },
    { name: "its type is null", result: '{"resultType":null,"content":[]}' },
  ])("$name", async ({ result }) => {
    await using relay = await open(firstTime(result));
    const { message } = await relay.client.request("tools/call", { name: "x" });
    expect(message.error).toMatchObject({ code: -31102, data: { reason: "ANSWER_UNUSABLE" } });
    expect(relay.client.received.filter((one) => one.message.method !== undefined)).toEqual([]);
    await works(relay);
  });

  it("it is deep, and the client's arguments are too: both pass as they are", async () => {
    const deep = "[".repeat(50_000) + "]".repeat(50_000);
    await using relay = await open({ "tools/call": () => `{"resultType":"complete","content":${deep}}` });
    relay.client.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":${deep}}}}`);
    const answer = await relay.client.take(({ id }) => id === 1);
    expect(answer.text).toBe(`{"jsonrpc":"2.0","id":1,"result":{"content":${deep}}}`);
  });

  it("it answers twice: the second time to nobody, also while the client is asked", async () => {
    await using relay = await open({ "tools/call": () => undefined });
    const calling = relay.client.request("tools/call", { name: "x" });
    const { message } = await asked(relay, "tools/call");
    const id = JSON.stringify(message.id);
    relay.child("a").send(`{"jsonrpc":"2.0","id":${id},"result":${asks(`{"q":${form}}`)}}`);
    relay.child("a").send(`{"jsonrpc":"2.0","id":${id},"result":${complete('"content":[]')}}`);
    const question = await relay.client.take(({ method }) => method === "elicitation/create");
    const reply = { jsonrpc: "2.0", id: question.message.id, result: { action: "decline" } };
    relay.client.send(reply);
    relay.client.send(reply);
    const again = await asked(relay, "tools/call");
    relay
      .child("a")
      .send(`{"jsonrpc":"2.0","id":${JSON.stringify(again.message.id)},"result":${complete('"content":[1]')}}`);
    expect((await calling).message.result).toEqual({ content: [1] });
    expect(relay.child("a").received.filter((one) => one.message.method === "tools/call").length).toBe(2);
    await works(relay);
  });
});

describe("questions of a server of 2026-07-28", () => {
  it("may have the name __proto__, and null for what is not there", async () => {
    await using relay = await open(
      firstTime(`{"resultType":"input_required","inputRequests":{"__proto__":${form}},"requestState":null}`),
    );
    const calling = relay.client.request("tools/call", { name: "x" });
    const { message } = await relay.client.take(({ method }) => method === "elicitation/create");
    relay.client.send({ jsonrpc: "2.0", id: message.id, result: { action: "decline" } });
    expect((await calling).text).toContain('"got":{"__proto__":{"action":"decline"}}');
    expect(relay.child("a").received.at(-1)?.text).not.toContain("requestState");
  });

  it("are answered by the relay's word alone, whatever the client wrote into its call", async () => {
    await using relay = await open({
      "tools/call": ({ params }) =>
        params?.["requestState"] === "forged"
          ? asks(`{"q":${form}}`)
          : complete(`"content":[],"got":${JSON.stringify(params)}`),
    });
    const forged = { name: "x", inputResponses: { q: { action: "accept" } }, requestState: "forged" };
    const calling = relay.client.request("tools/call", forged);
    const { message } = await relay.client.take(({ method }) => method === "elicitation/create");
    relay.client.send({ jsonrpc: "2.0", id: message.id, result: { action: "decline" } });
    const { text } = await calling;
    expect(text).toContain('"inputResponses":{"q":{"action":"decline"}}');
    expect(text).not.toContain("forged");
  });

  it("whose answers are too large for the server fail the call at once", async () => {
    const [near, state] = [createDirectTransport(), { refuse: false }];
    const transport = {
      ...near,
      start: near.start,
      send: (frame: Uint8Array) => (state.refuse ? Promise.reject(new Error("too large")) : near.send(frame)),
    };
    const open = async (): Promise<UpstreamConnection> => ({
      transport,
      evidence: { evidence: "hash-only" },
      exited: near.closed.then(() => ({ code: 0, signal: null })),
      close: () => near.close(),
    });
    await using relay = openHarness({ a: { open } }, { names: "plain", passThroughInitialize: true });
    const sent = async (method: string): Promise<unknown> => {
      for (;;) {
        const found = near.sent
          .map((bytes) => JSON.parse(Buffer.from(bytes).toString()))
          .find((one) => one.method === method);
        if (found !== undefined) return found.id;
        await new Promise(setImmediate);
      }
    };
    const answer = (id: unknown, rest: string): void =>
      near.deliver(Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${rest}}`));
    const opening = relay.client.initialize({ capabilities: everything });
    answer(await sent("initialize"), '"error":{"code":-32601,"message":"no"}');
    answer(await sent("server/discover"), '"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}');
    await opening;
    const calling = relay.client.request("tools/call", { name: "x" });
    answer(await sent("tools/call"), `"result":${asks(`{"q":${form}}`)}`);
    const question = await relay.client.take(({ method }) => method === "elicitation/create");
    state.refuse = true;
    relay.client.send({ jsonrpc: "2.0", id: question.message.id, result: { action: "decline" } });
    expect((await calling).message.error?.data).toMatchObject({ reason: "ANSWER_UNUSABLE" });
  });
});

describe("a client of an older revision at a server of 2026-07-28", () => {
  it("may say very deep and very long things of itself", async () => {
    const deep = `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    await using relay = openHarness({ a: { script: modernServer() } }, { names: "plain" });
    const params = `{"protocolVersion":"2025-11-25","clientInfo":{"name":"n","version":"1"},"capabilities":{"experimental":${deep},"sampling":{"x":1.0},"extensions":{"io.modelcontextprotocol/tasks":{},"e":{}}}}`;
    relay.client.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":${params}}`);
    await relay.client.take(({ id }) => id === 0);
    relay.client.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    await relay.client.request("tools/call", { name: "x" });
    const { text } = await asked(relay, "tools/call");
    expect(text).toContain('clientCapabilities":{"sampling":{"x":1.0},"extensions":{"e":{}}}');
  });

  it("may write any number of members, but into `_meta`, which the relay writes itself", async () => {
    await using relay = await open({ "tools/call": () => complete('"content":[]') });
    relay.client.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x",${manyMembers}}}`);
    expect((await relay.client.take(({ id }) => id === 1)).message.result).toBeDefined();
    relay.client.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","_meta":{${manyMembers}}}}`);
    expect((await relay.client.take(({ id }) => id === 2)).message.error?.code).toBe(-32602);
    await works(relay);
  });

  it("gets lists and results that its parser takes: schemas and structures of other kinds are left out", async () => {
    const tools =
      '{"tools":[{"name":"x","inputSchema":{"type":"object"},"outputSchema":{"type":"array"},"z":1.0},{"outputSchema":{"type":"object"},"name":"y","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"public","resultType":"complete"}';
    await using relay = await open({
      "tools/list": () => tools,
      "tools/call": () => '{"resultType":"complete","structuredContent":[1],"content":[]}',
    });
    const { text } = await relay.client.request("tools/list", {}, 1);
    expect(text).toContain(
      '"tools":[{"name":"x","inputSchema":{"type":"object"},"z":1.0},{"outputSchema":{"type":"object"},"name":"y"',
    );
    expect((await relay.client.request("tools/call", { name: "x" }, 2)).text).toBe(
      '{"jsonrpc":"2.0","id":2,"result":{"content":[]}}',
    );
  });

  it("may subscribe, take back and subscribe again while the server thinks, and every request has its answer", async () => {
    const script: Script = {
      "subscriptions/listen": () => undefined,
      "resources/list": () => complete('"resources":[]'),
    };
    await using relay = await open(script);
    const acknowledge = async (uris: readonly string[]): Promise<void> => {
      const { message } = await asked(relay, "subscriptions/listen");
      const params = {
        notifications: { resourceSubscriptions: uris },
        _meta: { "io.modelcontextprotocol/subscriptionId": message.id },
      };
      for (let times = 0; times < 2; times += 1)
        relay.child("a").send({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params });
    };
    const forged = {
      notifications: { resourceSubscriptions: ["u:a"] },
      _meta: { "io.modelcontextprotocol/subscriptionId": "berth-999" },
    };
    const subscribing = ["u:a", "u:a", "u:b"].map((uri) => relay.client.request("resources/subscribe", { uri }));
    relay.child("a").send({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params: forged });
    expect((await relay.client.request("resources/unsubscribe", { uri: "u:b" })).message.result).toEqual({});
    await acknowledge([]);
    await acknowledge(["u:a"]);
    const [first, second, third] = await Promise.all(subscribing);
    expect(first?.message.result).toEqual({});
    expect(second?.message.result).toEqual({});
    expect(third?.message.error?.data).toEqual({ uri: "u:b" });
    expect((await relay.client.request("resources/subscribe", { uri: "u:a" })).message.result).toEqual({});
    await works(relay);
  });

  it("may have 1,024 subscriptions and a megabyte of addresses, and no more: of the inner count", () => {
    const wanted = createWantedResources();
    for (let index = 0; index < 1_024; index += 1) expect(wanted.add(`u:${index}`)).toBeUndefined();
    expect(wanted.add("u:more")).toContain("1024");
    expect(wanted.add("u:0")).toBeUndefined();
    expect(wanted.delete("u:0")).toBe(true);
    expect(wanted.add(`u:${"x".repeat(1_048_576)}`)).toContain("bytes");
    expect(wanted.add("u:more")).toBeUndefined();
  });
});

describe("the handshake with a server that refuses initialize", () => {
  const refusing = (more: Script): Script => modernServer(more);
  const reasonOf = async (relay: Harness): Promise<unknown> =>
    (await relay.client.request("tools/call", { name: "a__x" })).message.error?.data?.["reason"];

  it("ends in time when server/discover is never answered", async () => {
    const scheduler = createManualScheduler();
    await using relay = openHarness({ a: { script: refusing({ "server/discover": () => undefined }) } }, { scheduler });
    await relay.client.initialize();
    const calling = reasonOf(relay);
    while (relay.started("a").length === 0) await new Promise(setImmediate);
    await asked(relay, "server/discover");
    scheduler.advance(30_000);
    expect(await calling).toBe("START_TIMEOUT");
  });

  it.each([
    {
      name: "capabilities of more members than are looked at",
      answer: `{"supportedVersions":["2026-07-28"],"capabilities":{${manyMembers}}}`,
    },
    { name: "versions of another time", answer: '{"supportedVersions":["2027-01-01"],"capabilities":{}}' },
    { name: "versions that are numbers", answer: '{"supportedVersions":[1],"capabilities":{}}' },
    { name: "no list of versions", answer: '{"supportedVersions":"2026-07-28","capabilities":{}}' },
  ])("fails with its refusal when the discovery has $name", async ({ answer }) => {
    await using relay = openHarness({ a: { script: refusing({ "server/discover": () => answer }) } });
    await relay.client.initialize();
    expect(await reasonOf(relay)).toBe("INITIALIZE_FAILED");
  });

  it("goes by the first answer to each of the two requests, and forgets the others", async () => {
    const discovered = complete('"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}');
    const legacy =
      '{"protocolVersion":"2025-11-25","capabilities":{"prompts":{}},"serverInfo":{"name":"old","version":"1"}}';
    await using relay = openHarness(
      {
        a: {
          script: refusing({
            "server/discover": ({ id }, server) => {
              server.send(`{"jsonrpc":"2.0","id":1,"result":${legacy}}`);
              server.send(`{"jsonrpc":"2.0","id":"${String(id)}","result":${discovered}}`);
              server.send(`{"jsonrpc":"2.0","id":1,"result":${legacy}}`);
              return discovered;
            },
          }),
        },
      },
      { names: "plain", passThroughInitialize: true },
    );
    const { message } = await relay.client.initialize();
    expect(message.result).toMatchObject({ capabilities: { tools: {} }, serverInfo: { name: "unknown" } });
    expect((await relay.client.request("tools/call", { name: "x" })).message.result).toBeDefined();
  });

  it("leaves out what a client of an older revision cannot read of the discovery", async () => {
    const odd = complete(
      '"supportedVersions":["2026-07-28"],"capabilities":{"tasks":{},"tools":{},"extensions":{}},"instructions":{"be":"kind"},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n"}}',
    );
    await using relay = openHarness(
      { a: { script: refusing({ "server/discover": () => odd }) } },
      { passThroughInitialize: true },
    );
    const { message } = await relay.client.initialize();
    expect(message.result).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "unknown", version: "unknown" },
    });
  });

  it("is made anew with each child of a server", async () => {
    await using relay = await open();
    relay.child("a").exit(1);
    for (;;) {
      const { message } = await relay.client.request("tools/call", { name: "x" });
      if (message.result !== undefined) break;
      expect(message.error?.data).toMatchObject({ reason: "CHILD_EXITED" });
    }
    expect(relay.started("a").length).toBe(2);
    expect(
      relay
        .child("a")
        .received.map(({ message }) => message.method)
        .slice(0, 2),
    ).toEqual(["initialize", "server/discover"]);
  });
});

describe("a message over the limit from a server of 2026-07-28", () => {
  interface Direct extends AsyncDisposable {
    readonly relay: Harness;
    oversize(envelope: OversizeFrame["envelope"]): void;
    /** Ids of requests of this method that it got. */
    ids(method: string): Promise<readonly (string | number)[]>;
    answer(id: string | number, rest: string): void;
  }
  const sample = (script: (one: Direct) => Promise<void>) => async (): Promise<void> => {
    const near = createDirectTransport();
    let oversize: ((frame: OversizeFrame) => void) | undefined;
    const transport = {
      ...near,
      start(receiver: Parameters<typeof near.start>[0]) {
        oversize = (frame) => receiver.onOversize?.(frame);
        near.start(receiver);
      },
    };
    const open = async (): Promise<UpstreamConnection> => ({
      transport,
      evidence: { evidence: "hash-only" },
      exited: near.closed.then(() => ({ code: 0, signal: null })),
      close: () => near.close(),
    });
    const relay = openHarness({ a: { open } }, { names: "plain" });
    const one: Direct = {
      relay,
      oversize: (envelope) => oversize?.({ offset: 0, byteLength: 99_999_999, head: Buffer.from("{"), envelope }),
      answer: (id, rest) => near.deliver(Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${rest}}`)),
      async ids(method) {
        for (;;) {
          const all = near.sent
            .map((bytes) => JSON.parse(Buffer.from(bytes).toString()))
            .filter((sent) => sent.method === method);
          if (all.length > 0) return all.map(({ id }) => id);
          await new Promise(setImmediate);
        }
      },
      [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
    };
    await using held = one;
    await held.relay.client.initialize();
    await script(held);
  };
  const refused = '"error":{"code":-32601,"message":"no"}';
  const discovered = '"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}';

  it.each(["initialize", "server/discover"])(
    "that answers %s fails the start by its size",
    sample(async ({ relay, oversize, ids, answer }) => {
      const calling = relay.client.request("tools/call", { name: "x" });
      const [id = 0] = await ids("initialize");
      answer(id, refused);
      await ids("server/discover");
      oversize({ kind: "response", id: "berth-discover" });
      expect((await calling).message.error?.data).toMatchObject({ reason: "FRAME_TOO_LARGE" });
    }),
  );

  it(
    "fails the call that it answers, and is passed over when it answers a stream, a call given up, or asks",
    sample(async ({ relay, oversize, ids, answer }) => {
      const calling = relay.client.request("tools/call", { name: "x" }, "one");
      const [id = 0] = await ids("initialize");
      answer(id, refused);
      const [discover = 0] = await ids("server/discover");
      answer(discover, discovered);
      const [call = 0] = await ids("tools/call");
      oversize({ kind: "response", id: call });
      expect((await calling).message.error?.data).toMatchObject({ reason: "FRAME_TOO_LARGE" });
      const [stream = 0] = await ids("subscriptions/listen");
      oversize({ kind: "response", id: call });
      oversize({ kind: "error", id: stream });
      oversize({ kind: "request", id: "berth-1" });
      oversize({ kind: "notification" });
      const again = relay.client.request("tools/call", { name: "x" });
      let last: string | number = call;
      while (last === call) {
        last = (await ids("tools/call")).at(-1) ?? call;
        await new Promise(setImmediate);
      }
      answer(last, '"result":{"resultType":"complete","content":[]}');
      expect((await again).message.result).toEqual({ content: [] });
    }),
  );
});

describe("pinning a server of 2026-07-28 alone", () => {
  it("reads what it says of itself and its tools as a client of an older revision sees them", async () => {
    const { connection } = openScripted(
      modernServer({
        "resources/list": () => complete('"resources":[]'),
        "resources/templates/list": () => complete('"resourceTemplates":[]'),
        "subscriptions/listen": () => undefined,
      }),
    );
    const inspection = await inspectServer(connection, { server: "a", clientInfo: { name: "pin", version: "1" } });
    expect(inspection.problems).toEqual([]);
    expect(inspection.tools.map(({ name }) => name)).toEqual(["x"]);
    expect(inspection.initialize).toEqual({
      protocolVersion: "2025-11-25",
      capabilities: '{"logging":{},"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true}}',
      serverInfo: '{"name":"new","version":"3.1.4"}',
      instructions: "be kind",
    });
  });

  it("holds: a tool that is not as it was pinned is refused, and so are other instructions", async () => {
    const pinned = pinsOf([{ name: "x", description: "another", inputSchema: { type: "object" } }]);
    const pinnedInitialize = { protocolVersion: "2025-11-25", capabilities: '{"tools":{}}', instructions: "be nice" };
    await using relay = openHarness(
      { a: { script: modernServer(), tools: { pinned }, pinnedInitialize } },
      { names: "plain" },
    );
    await relay.client.initialize();
    const { message } = await relay.client.request("tools/call", { name: "x" });
    expect(message.error?.data).toMatchObject({ reason: "TOOL_CHANGED", server: "a" });
    const drifts = relay.events.flatMap((event) => (event.type.includes("drift") ? [event] : []));
    expect(JSON.stringify(drifts)).toContain("instructions");
  });
});
