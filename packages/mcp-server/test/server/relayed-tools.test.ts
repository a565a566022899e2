import type { JsonObject } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { createMcpServer, type McpServer, type RelayedCall, type RelayedTool, RpcError } from "../../src/index.js";
import { legacyRevisions } from "../../src/protocol.js";
import { errorOf, openClient, resultOf, type TestClient } from "../support/client.js";

const definition = {
  name: "far__echo",
  title: "Echo",
  description: "Says it again.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, $comment: "kept" },
  outputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
  icons: [{ src: "https://x.example/i.png" }],
  execution: { future: 1 },
  _meta: { "com.example/x": 1 },
};

/** A server that hands one tool on to `call`, and keeps what it was asked. */
function relaying(
  call: RelayedTool<string>["call"],
  shown: JsonObject = definition,
): { server: McpServer<string>; calls: JsonObject[] } {
  const calls: JsonObject[] = [];
  const record = (made: RelayedCall<string>): Promise<JsonObject> => {
    calls.push(made.params);
    return call(made);
  };
  const relayedTools = [{ definition: shown, permission: "use", call: record }];
  const server = createMcpServer<string>({
    identity: { name: "near", version: "1" },
    authorize: ({ permission, principal }) => permission === "use" && principal !== "eve",
    relayedTools,
  });
  return { server, calls };
}

const echo: RelayedTool<string>["call"] = async ({ params }) => ({
  resultType: "complete",
  content: [],
  got: params["arguments"] ?? null,
});
const callOf = (client: TestClient, more: JsonObject = {}) => client.ask("tools/call", { name: "far__echo", ...more });

describe("a relayed tool", () => {
  it("is listed to clients of 2026-07-28 as it is", async () => {
    const result = resultOf(await openClient(relaying(echo).server).askModern("tools/list"));
    expect(result["tools"]).toEqual([definition]);
  });

  it.each(legacyRevisions)("is listed to clients of %s with what they know", async (revision) => {
    const client = openClient(relaying(echo).server);
    await client.initialize(revision);
    const { tools } = resultOf(await client.ask("tools/list"));
    const known = new Set(Object.keys(Object(tools)[0] ?? {}));
    expect(known.has("execution")).toBe(false);
    expect(known.has("icons")).toBe(revision >= "2025-11-25");
    expect(known.has("outputSchema")).toBe(revision >= "2025-06-18");
    expect(Object(tools)[0]).toMatchObject({ name: "far__echo", inputSchema: definition.inputSchema });
  });

  it("gets params as they came, also what its schema would refuse, and its result is the answer", async () => {
    const { server, calls } = relaying(echo);
    const client = openClient(server);
    const result = resultOf(
      await client.askModern("tools/call", { name: "far__echo", arguments: { text: 7 }, odd: true }),
    );
    expect(calls[0]).toMatchObject({ name: "far__echo", arguments: { text: 7 }, odd: true });
    expect(result).toMatchObject({ resultType: "complete", got: { text: 7 } });
  });

  it("is unknown to who may not use it", async () => {
    const { server, calls } = relaying(echo);
    expect(errorOf(await openClient(server, "eve").askModern("tools/call", { name: "far__echo" })).code).toBe(-32602);
    expect(calls).toEqual([]);
  });

  it("answers a client of 2026-07-28 with its own questions, and is given the answers as they come", async () => {
    const asks = { resultType: "input_required", inputRequests: { q: { method: "roots/list" } }, requestState: "mine" };
    const { server, calls } = relaying(async ({ params }) => (params["requestState"] === "mine" ? echo2 : asks));
    const echo2 = { resultType: "complete", content: [] };
    const client = openClient(server);
    const first = resultOf(await client.askModern("tools/call", { name: "far__echo" }, { roots: {} }));
    expect(first).toMatchObject(asks);
    const again = { name: "far__echo", requestState: "mine", inputResponses: { q: { roots: [] } } };
    expect(resultOf(await client.askModern("tools/call", again))).toMatchObject({ resultType: "complete" });
    expect(calls[1]).toMatchObject({ requestState: "mine", inputResponses: { q: { roots: [] } } });
  });

  it("asks a client of an older revision in requests, and loses what that does not know", async () => {
    const asks = { resultType: "input_required", inputRequests: { q: { method: "roots/list" } }, requestState: "mine" };
    const { server, calls } = relaying(async ({ params }) =>
      params["requestState"] === undefined
        ? asks
        : { resultType: "complete", ttlMs: 1, cacheScope: "public", content: [], x: 1 },
    );
    const client = openClient(server);
    await client.initialize("2025-11-25", { roots: {} });
    const calling = callOf(client);
    const asked = await question(client);
    await client.reply({ jsonrpc: "2.0", id: asked["id"] ?? null, result: { roots: [], kept: 1 } });
    expect(resultOf(await calling)).toEqual({ content: [], x: 1 });
    expect(calls[1]).toMatchObject({
      name: "far__echo",
      inputResponses: { q: { roots: [], kept: 1 } },
      requestState: "mine",
    });
  });

  it.each([
    { name: "what the client did not offer", requests: { q: { method: "roots/list" } }, code: -32602 },
    { name: "what no client can be asked", requests: { q: { method: "shell/run", params: {} } }, code: -32603 },
    { name: "what is no question", requests: { q: 1 }, code: -32603 },
  ])("that asks $name fails the call and asks nobody", async ({ requests, code }) => {
    const { server } = relaying(async () => ({ resultType: "input_required", inputRequests: requests }));
    const client = openClient(server);
    await client.initialize();
    expect(errorOf(await callOf(client)).code).toBe(code);
    expect(client.sent).toEqual([]);
  });

  it("that asks without end is ended", async () => {
    const { server, calls } = relaying(async () => ({ resultType: "input_required", requestState: "again" }));
    const client = openClient(server);
    await client.initialize();
    expect(errorOf(await callOf(client)).message).toContain("more than 16 times");
    expect(calls.length).toBe(17);
  });

  it.each([
    { name: "what the client did not offer", requests: { q: { method: "roots/list" } }, code: -32021 },
    { name: "what no client can be asked", requests: { q: { method: "shell/run", params: {} } }, code: -32603 },
    { name: "nothing", requests: undefined, code: -32603 },
    {
      name: "33 questions",
      requests: Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`q${index}`, { method: "roots/list" }])),
      code: -32603,
    },
  ])("that asks a client of 2026-07-28 $name fails the call", async ({ requests, code }) => {
    const asked: JsonObject = requests === undefined ? {} : { inputRequests: requests };
    const { server } = relaying(async () => ({ resultType: "input_required", ...asked }));
    expect(errorOf(await openClient(server).askModern("tools/call", { name: "far__echo" })).code).toBe(code);
  });

  it("hears no answers to questions from a client of an older revision that was not asked", async () => {
    const { server, calls } = relaying(echo);
    const client = openClient(server);
    await client.initialize();
    await callOf(client, { requestState: "forged", inputResponses: { q: { roots: [] } } });
    expect(calls).toEqual([{ name: "far__echo" }]);
  });

  it("is shown as it was given, whatever is done to its definition later", async () => {
    const given = { name: "far__echo", inputSchema: { type: "object" }, description: "before" };
    const { server } = relaying(echo, given);
    Object.assign(given, { description: "after" });
    Object.assign(given.inputSchema, { type: "string" });
    const result = resultOf(await openClient(server).askModern("tools/list"));
    expect(result["tools"]).toEqual([{ name: "far__echo", inputSchema: { type: "object" }, description: "before" }]);
  });

  it.each(["2025-11-25", "2026-07-28"])("whose result is no object fails the call, of %s", async (revision) => {
    const { server } = relaying(async () => Object(JSON.parse('{"got":null}')).got);
    const client = openClient(server);
    if (revision === "2025-11-25") await client.initialize();
    const call = { name: "far__echo" };
    const answer = revision === "2025-11-25" ? callOf(client) : client.askModern("tools/call", call);
    expect(errorOf(await answer).message).toContain("no object");
  });

  it("that throws what is no error of the protocol fails as a handler does", async () => {
    const { server } = relaying(async () => {
      throw new Error("secret");
    });
    await expect(openClient(server).askModern("tools/call", { name: "far__echo" })).rejects.toThrow("secret");
  });

  it("is not asked again once its call was cancelled, and the client's questions are taken back", async () => {
    const asks = { resultType: "input_required", inputRequests: { q: { method: "roots/list" } } };
    const { server, calls } = relaying(async () => asks);
    const client = openClient(server);
    await client.initialize("2025-11-25", { roots: {} });
    const calling = client.ask("tools/call", { name: "far__echo" }, "one");
    await question(client);
    await client.notify("notifications/cancelled", { requestId: "one" });
    expect(await calling).toBeUndefined();
    expect(calls.length).toBe(1);
    expect(client.sent.map(({ method }) => method)).toContain("notifications/cancelled");
  });

  it.each(["task", "surprise"])("with a result of the type %s fails the call", async (resultType) => {
    const { server } = relaying(async () => ({ resultType }));
    const client = openClient(server);
    expect(errorOf(await client.askModern("tools/call", { name: "far__echo" })).code).toBe(-32603);
  });

  it("answers with the error of its server", async () => {
    const { server } = relaying(async () => {
      throw new RpcError(-32602, "Unknown tool: echo", { data: { a: 1 } });
    });
    const answer = errorOf(await openClient(server).askModern("tools/call", { name: "far__echo" }));
    expect(answer).toEqual({ code: -32602, message: "Unknown tool: echo", data: { a: 1 } });
  });

  it.each([
    { name: "has no definition", tool: { permission: "use", call: echo } },
    { name: "names no permission", tool: { definition, call: echo } },
    { name: "has no call", tool: { definition, permission: "use" } },
    {
      name: "has no schema of an object",
      tool: { definition: { name: "x", inputSchema: {} }, permission: "use", call: echo },
    },
    {
      name: "has a name that is none",
      tool: { definition: { ...definition, name: "a b" }, permission: "use", call: echo },
    },
    {
      name: "has a title that is no text",
      tool: { definition: { ...definition, title: 5 }, permission: "use", call: echo },
    },
    {
      name: "has annotations of another kind",
      tool: { definition: { ...definition, annotations: { readOnlyHint: "yes" } }, permission: "use", call: echo },
    },
    { name: "is no object", tool: 7 },
  ])("that $name is refused at the start", ({ tool }) => {
    expect(() =>
      createMcpServer<string>({ identity: { name: "x", version: "1" }, relayedTools: Object([tool]) }),
    ).toThrow(expect.objectContaining({ name: "RegistrationError" }));
  });

  it("with the name of another tool is refused at the start", () => {
    const tool = { definition, permission: "use", call: echo };
    expect(() =>
      createMcpServer<string>({ identity: { name: "x", version: "1" }, relayedTools: [tool, tool] }),
    ).toThrow(/registered twice/);
  });
});

/** The first request of the server to the client, once it was sent. */
async function question(client: TestClient): Promise<JsonObject> {
  for (let turn = 0; client.sent.length === 0 && turn < 1_000; turn += 1) await Promise.resolve();
  const [asked] = client.sent;
  if (asked === undefined) throw new Error("nothing was asked");
  return asked;
}
