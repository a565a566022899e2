import type { JsonObject } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { createMcpServer, type McpServer, type RelayedPrompt, RpcError } from "../../src/index.js";
import { legacyRevisions } from "../../src/protocol.js";
import { errorOf, openClient, resultOf } from "../support/client.js";

const definition = {
  name: "far__greet",
  title: "Greet",
  description: "Greets somebody.",
  arguments: [{ name: "who", title: "Who", description: "A name", required: true, odd: 1 }],
  icons: [{ src: "https://x.example/i.png" }],
  future: { kept: true },
  _meta: { "com.example/x": 1 },
};
const messages = [{ role: "user", content: { type: "text", text: "hello" } }];
const greet: RelayedPrompt<string>["get"] = async () => ({
  resultType: "complete",
  description: "d",
  messages,
  odd: 1,
});

function serving(
  more: Partial<RelayedPrompt<string>> = {},
  others: Partial<Parameters<typeof createMcpServer>[0]> = {},
): McpServer<string> {
  return createMcpServer<string>({
    identity: { name: "near", version: "1" },
    authorize: ({ permission, principal, kind }) => permission === "use" && kind === "prompt" && principal !== "eve",
    relayedPrompts: [{ definition, permission: "use", get: greet, ...more }],
    ...Object(others),
  });
}

describe("a relayed prompt", () => {
  it("is listed to clients of 2026-07-28 as it is, and told as a capability", async () => {
    const client = openClient(serving());
    expect(resultOf(await client.askModern("prompts/list"))["prompts"]).toEqual([definition]);
    expect(resultOf(await client.askModern("server/discover"))["capabilities"]).toEqual({
      logging: {},
      prompts: { listChanged: true },
    });
  });

  it.each(legacyRevisions)("is listed to clients of %s with what they know", async (revision) => {
    const client = openClient(serving());
    await client.initialize(revision);
    const { prompts } = resultOf(await client.ask("prompts/list"));
    const titled = revision >= "2025-06-18";
    expect(prompts).toEqual([
      {
        name: "far__greet",
        description: "Greets somebody.",
        ...(titled ? { title: "Greet", _meta: definition._meta } : {}),
        ...(revision >= "2025-11-25" ? { icons: definition.icons } : {}),
        arguments: [{ name: "who", description: "A name", required: true, ...(titled ? { title: "Who" } : {}) }],
      },
    ]);
  });

  it("gets params as they came, and its result is the answer; older clients get what they know of it", async () => {
    const calls: JsonObject[] = [];
    const server = serving({
      get: (call) => {
        calls.push(call.params);
        return greet(call);
      },
    });
    const asked = { name: "far__greet", arguments: { who: "Ada" }, odd: true };
    const modern = resultOf(await openClient(server).askModern("prompts/get", asked));
    expect(modern).toMatchObject({ resultType: "complete", description: "d", messages, odd: 1 });
    const client = openClient(server);
    await client.initialize("2025-06-18");
    expect(resultOf(await client.ask("prompts/get", asked))).toEqual({ description: "d", messages, odd: 1 });
    expect(calls).toMatchObject([asked, asked]);
  });

  it("loses kinds of content that a revision does not have", async () => {
    const link = { type: "resource_link", uri: "file:///a", name: "a" };
    const server = serving({ get: async () => ({ messages: [{ role: "user", content: link }] }) });
    const client = openClient(server);
    await client.initialize("2024-11-05");
    const { messages: got } = resultOf(await client.ask("prompts/get", { name: "far__greet" }));
    expect(got).toEqual([{ role: "user", content: { type: "text", text: "a: file:///a" } }]);
  });

  it("may ask before it answers: clients of both eras are asked in their own way", async () => {
    const asks = { resultType: "input_required", inputRequests: { q: { method: "roots/list" } }, requestState: "mine" };
    const server = serving({
      get: async (call) => (call.params["requestState"] === "mine" ? greet(call) : asks),
    });
    const first = await openClient(server).askModern("prompts/get", { name: "far__greet" }, { roots: {} });
    expect(resultOf(first)).toMatchObject(asks);
    const client = openClient(server);
    await client.initialize("2025-11-25", { roots: {} });
    const getting = client.ask("prompts/get", { name: "far__greet" });
    await expect.poll(() => client.sent.length).toBe(1);
    await client.reply({ jsonrpc: "2.0", id: Object(client.sent[0]).id, result: { roots: [] } });
    expect(resultOf(await getting)).toMatchObject({ messages });
  });

  it("answers with the error of its server, and is unknown to who may not use it", async () => {
    const server = serving({
      get: async () => {
        throw new RpcError(-32602, "argument who is missing", { data: { a: 1 } });
      },
    });
    const answer = errorOf(await openClient(server).askModern("prompts/get", { name: "far__greet" }));
    expect(answer).toEqual({ code: -32602, message: "argument who is missing", data: { a: 1 } });
    for (const name of ["far__greet", "none"]) {
      const hidden = errorOf(await openClient(server, "eve").askModern("prompts/get", { name }));
      expect(hidden).toEqual({ code: -32602, message: `Unknown prompt: ${name}` });
    }
    expect(resultOf(await openClient(server, "eve").askModern("prompts/list"))["prompts"]).toEqual([]);
  });

  it("proposes what its server proposes, where that does", async () => {
    const completion = { values: ["Ada", "Alan"], total: 2, hasMore: false };
    const calls: JsonObject[] = [];
    const server = serving({
      complete: async ({ params }) => {
        calls.push(params);
        return { resultType: "complete", completion };
      },
    });
    const asked = { ref: { type: "ref/prompt", name: "far__greet" }, argument: { name: "who", value: "A" } };
    const client = openClient(server);
    await client.initialize();
    expect(resultOf(await client.ask("completion/complete", asked))).toEqual({ completion });
    expect(resultOf(await openClient(server).askModern("completion/complete", asked))).toMatchObject({ completion });
    expect(calls).toMatchObject([asked, asked]);
    expect(errorOf(await openClient(server, "eve").askModern("completion/complete", asked)).code).toBe(-32602);
    const capabilities = resultOf(await openClient(server).askModern("server/discover"))["capabilities"];
    expect(capabilities).toHaveProperty("completions");
  });

  it("whose server answers a completion with a question fails it", async () => {
    const server = serving({ complete: async () => ({ resultType: "input_required", requestState: "x" }) });
    const asked = { ref: { type: "ref/prompt", name: "far__greet" }, argument: { name: "who", value: "" } };
    expect(errorOf(await openClient(server).askModern("completion/complete", asked)).code).toBe(-32603);
  });

  it.each([
    { name: "has no definition", prompt: { permission: "use", get: greet } },
    { name: "names no permission", prompt: { definition, get: greet } },
    { name: "has no get", prompt: { definition, permission: "use" } },
    { name: "has no name", prompt: { definition: { name: "" }, permission: "use", get: greet } },
    { name: "has a control in its name", prompt: { definition: { name: "a\nb" }, permission: "use", get: greet } },
    {
      name: "has a bidi mark in its name",
      prompt: { definition: { name: "a\u202eb" }, permission: "use", get: greet },
    },
    { name: "has half a character", prompt: { definition: { name: "a\ud800" }, permission: "use", get: greet } },
    { name: "has a long name", prompt: { definition: { name: "x".repeat(129) }, permission: "use", get: greet } },
    {
      name: "has a title that is none",
      prompt: { definition: { ...definition, title: 1 }, permission: "use", get: greet },
    },
    {
      name: "has arguments without names",
      prompt: { definition: { ...definition, arguments: [{ description: "x" }] }, permission: "use", get: greet },
    },
    {
      name: "has icons that are none",
      prompt: { definition: { ...definition, icons: [{ sizes: "any" }] }, permission: "use", get: greet },
    },
    { name: "is no object", prompt: 7 },
  ])("that $name is refused at the start, by its place", ({ prompt }) => {
    expect(() =>
      createMcpServer<string>({ identity: { name: "x", version: "1" }, relayedPrompts: Object([prompt]) }),
    ).toThrow(expect.objectContaining({ problems: [expect.objectContaining({ where: "relayedPrompts[0]" })] }));
  });

  it("with the name of another one, or of the server's own, is refused at the start", () => {
    const prompt = { definition, permission: "use", get: greet };
    expect(() => serving({}, { relayedPrompts: [prompt, prompt] })).toThrow(/registered twice/);
    const own = { name: "far__greet", permission: "use", handler: () => "own" };
    expect(() => serving({}, { prompts: [own] })).toThrow(/registered twice/);
  });
});
