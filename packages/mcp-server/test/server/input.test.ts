import type { JsonObject } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { createFakeScheduler } from "../../../jsonrpc-framing/test/fake-scheduler.js";
import type { McpServerOptions } from "../../src/index.js";
import { errorOf, openClient, resultOf, type TestClient } from "../support/client.js";
import { sampleServer } from "../support/sample.js";

const capabilities = { elicitation: { form: {} } };
const accept = (content: JsonObject): JsonObject => ({ action: "accept", content });
const call = (client: TestClient, more: JsonObject = {}, declared: JsonObject = capabilities) =>
  client.askModern("tools/call", { name: "asks", arguments: {}, ...more }, declared);

/** The state of the first round. */
async function stateOf(client: TestClient): Promise<string> {
  const { requestState } = resultOf(await call(client));
  return String(requestState);
}

describe("requestInput in 2026-07-28", () => {
  it("asks in rounds, and keeps the answers of earlier ones in the state", async () => {
    const client = openClient(sampleServer());
    const first = resultOf(await call(client));
    expect(first).toMatchObject({
      resultType: "input_required",
      inputRequests: { name: { method: "elicitation/create", params: { message: "Who?" } } },
    });
    const { requestState } = first;
    const second = resultOf(
      await call(client, {
        requestState: String(requestState),
        inputResponses: { name: accept({ name: "Ada" }), extra: 1 },
      }),
    );
    expect(second).toMatchObject({ resultType: "input_required", inputRequests: { place: {} } });
    expect(Object.keys(Object(second["inputRequests"]))).toEqual(["place"]);
    const third = await call(client, {
      requestState: String(second["requestState"]),
      inputResponses: { place: accept({ place: "Turin" }) },
    });
    expect(resultOf(third)).toMatchObject({
      resultType: "complete",
      content: [{ text: '[{"name":"Ada"},{"place":"Turin"}]' }],
    });
  });

  it("asks again when an answer is missing, or came without a state", async () => {
    const client = openClient(sampleServer());
    const requestState = await stateOf(client);
    for (const more of [
      { requestState },
      { requestState, inputResponses: { other: {} } },
      { inputResponses: { name: accept({ name: "x" }) } },
    ])
      expect(resultOf(await call(client, more))).toMatchObject({
        resultType: "input_required",
        inputRequests: { name: {} },
      });
  });

  it("refuses a state that was changed, is of another principal, tool or arguments, of another server, or no state", async () => {
    const server = sampleServer();
    const client = openClient(server);
    const state = await stateOf(client);
    const refused = async (from: TestClient, more: JsonObject): Promise<void> =>
      expect(errorOf(await call(from, more))).toEqual({
        code: -32602,
        message: "requestState is not valid for this request, or has expired",
      });
    for (let at = 0; at < state.length; at += 7) {
      const changed = `${state.slice(0, at)}${state[at] === "A" ? "B" : "A"}${state.slice(at + 1)}`;
      await refused(client, { requestState: changed });
    }
    for (const requestState of ["", "v1", 3, null, {}, "x".repeat(100_000)]) await refused(client, { requestState });
    await refused(openClient(server, "eve"), { requestState: state });
    await refused(openClient(sampleServer()), { requestState: state });
    const prompt = await client.askModern(
      "tools/call",
      { name: "sum", arguments: {}, requestState: state },
      capabilities,
    );
    expect(errorOf(prompt).code).toBe(-32602);
  });

  it("refuses a state of which only the spare bits of its last character were changed", async () => {
    const client = openClient(sampleServer());
    const state = await stateOf(client);
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const last = letters.indexOf(state.slice(-1));
    const spellings = [1, 2, 3].map((more) => `${state.slice(0, -1)}${letters[last + more]}`);
    for (const requestState of spellings) {
      expect(Buffer.from(requestState.slice(-43), "base64url")).toEqual(Buffer.from(state.slice(-43), "base64url"));
      expect(errorOf(await call(client, { requestState })).code).toBe(-32602);
    }
  });

  it.each([
    ["null", "1e400"],
    ["1e400", "-1e400"],
    ["0", "-0"],
    ["1e400", '"Infinity"'],
  ])("does not take the state of n: %s for n: %s", async (first, second) => {
    const client = openClient(sampleServer());
    const withNumber = (n: string): JsonObject => JSON.parse(`{"extra":${n}}`);
    const { requestState } = resultOf(await call(client, withNumber(first)));
    const retry = (n: string) => call(client, { ...withNumber(n), requestState: String(requestState) });
    expect(resultOf(await retry(first))["resultType"]).toBe("input_required");
    expect(errorOf(await retry(second)).code).toBe(-32602);
  });

  it("refuses a state that has expired, and takes one signed with an older key", async () => {
    let clock = 0;
    const old = new Uint8Array(32).fill(1);
    const options = (keys: readonly Uint8Array[]): Partial<McpServerOptions<string>> => ({
      now: () => clock,
      limits: { requestStateMs: 1_000 },
      requestState: { keys },
    });
    const requestState = await stateOf(openClient(sampleServer(options([old]))));
    const client = openClient(sampleServer(options([new Uint8Array(32).fill(2), old])));
    clock = 1_000;
    expect(resultOf(await call(client, { requestState }))["resultType"]).toBe("input_required");
    clock = 1_001;
    expect(errorOf(await call(client, { requestState })).code).toBe(-32602);
  });

  it.each([
    { name: "no object", answer: 3 },
    { name: "no action", answer: {} },
    { name: "no content", answer: { action: "accept" } },
    { name: "content that the form refuses", answer: { action: "accept", content: { name: 3 } } },
  ])("refuses an answer with $name", async ({ answer }) => {
    const client = openClient(sampleServer());
    const requestState = await stateOf(client);
    expect(errorOf(await call(client, { requestState, inputResponses: { name: answer } })).code).toBe(-32602);
  });

  it("does not ask a client that did not declare that it can be asked", async () => {
    const client = openClient(sampleServer());
    for (const declared of [{}, { sampling: {} }, { elicitation: { url: {} } }])
      expect(errorOf(await call(client, {}, declared))).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { elicitation: { form: {} } } },
      });
    expect(resultOf(await call(client, {}, { elicitation: {} }))["resultType"]).toBe("input_required");
  });
});

describe("requestInput before 2026-07-28", () => {
  /** Answers the questions that the server sends, as they come. */
  const answerAll = async (
    client: TestClient,
    reply: (params: unknown) => JsonObject,
    count: number,
  ): Promise<void> => {
    for (let done = 0; done < count; ) {
      const message = client.sent.shift();
      await new Promise(setImmediate);
      if (message === undefined) continue;
      done += 1;
      await client.reply({ jsonrpc: "2.0", id: Number(message["id"]), ...reply(message["params"]) });
    }
  };

  it("asks the client while the handler waits", async () => {
    const client = openClient(sampleServer());
    await client.initialize("2025-06-18", { elicitation: {} });
    const answer = client.ask("tools/call", { name: "asks", arguments: {} });
    await answerAll(client, () => ({ result: accept({ name: "Ada", place: "Turin" }) }), 2);
    expect(resultOf(await answer)).toMatchObject({ content: [{ text: expect.stringContaining("Turin") }] });
  });

  it("answers -32603 when the client refuses, and -32602 when it cannot be asked", async () => {
    const client = openClient(sampleServer());
    await client.initialize();
    expect(errorOf(await client.ask("tools/call", { name: "asks" }))).toMatchObject({ code: -32602 });
    await client.initialize("2025-11-25", capabilities);
    const answer = client.ask("tools/call", { name: "asks" });
    await answerAll(client, () => ({ error: { code: -1, message: "no" } }), 1);
    expect(errorOf(await answer)).toMatchObject({ code: -32603, data: { code: -1 } });
  });

  it("gives up when the client does not answer in time, and tells it", async () => {
    const client = openClient(sampleServer({ limits: { clientAnswerMs: 20 } }));
    await client.initialize("2025-11-25", capabilities);
    expect(errorOf(await client.ask("tools/call", { name: "asks" }))).toMatchObject({ code: -32603 });
    expect(client.sent.at(-1)).toMatchObject({ method: "notifications/cancelled", params: { requestId: 1 } });
  });

  it("never gives one client's answer to another, though their ids are equal", async () => {
    const server = sampleServer();
    const clients = [openClient(server, "a"), openClient(server, "b")];
    const answers = clients.map(async (client) => {
      await client.initialize("2025-11-25", capabilities);
      return client.ask("tools/call", { name: "asks" }, "same");
    });
    await Promise.all(
      clients.map((client, at) =>
        answerAll(client, () => ({ result: accept({ name: `n${at}`, place: `p${at}` }) }), 2),
      ),
    );
    const texts = (await Promise.all(answers)).map((answer) => JSON.stringify(resultOf(answer)["content"]));
    expect(texts[0]).toContain("n0");
    expect(texts[1]).toContain("p1");
    expect(texts[1]).not.toContain("n0");
  });

  it("pings a client, but not one of 2026-07-28", async () => {
    const scheduler = createFakeScheduler();
    const client = openClient(sampleServer({ scheduler, limits: { clientAnswerMs: 20 } }));
    await expect(client.connection.ping()).rejects.toMatchObject({ name: "RpcError" });
    await client.initialize();
    const pong = client.connection.ping();
    await answerAll(client, () => ({ result: {} }), 1);
    await pong;
    const late = client.connection.ping();
    scheduler.advance(20);
    await expect(late).rejects.toMatchObject({ code: -32603 });
    await expect(client.connection.ping({ signal: AbortSignal.abort(new Error("mine")) })).rejects.toThrow("mine");
  });
});

describe("prompts and resources", () => {
  it("ask as tools do, in both eras", async () => {
    const question = { root: { method: "roots/list" } } as const;
    const server = sampleServer({
      prompts: [
        {
          name: "p",
          permission: "use",
          handler: async ({ requestInput }) => JSON.stringify(await requestInput(question)),
        },
      ],
      resources: [
        {
          uri: "r:///",
          name: "r",
          permission: "use",
          read: async ({ requestInput }) => JSON.stringify(await requestInput(question)),
        },
      ],
    });
    for (const [method, params] of [
      ["prompts/get", { name: "p" }],
      ["resources/read", { uri: "r:///" }],
    ] as const) {
      const client = openClient(server);
      const asked = resultOf(await client.askModern(method, params, { roots: {} }));
      expect(asked).toMatchObject({ resultType: "input_required", inputRequests: question });
      const retry = { ...params, requestState: String(asked["requestState"]), inputResponses: { root: { roots: [] } } };
      const done = resultOf(await client.askModern(method, retry, { roots: {} }));
      expect(JSON.stringify(done)).toContain("roots");
      expect(done).toMatchObject({ resultType: "complete" });
    }
  });
});
