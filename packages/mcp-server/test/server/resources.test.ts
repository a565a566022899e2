import { describe, expect, it } from "vitest";
import type { McpServerOptions } from "../../src/index.js";
import { errorOf, openClient, resultOf } from "../support/client.js";
import { notes } from "../support/notes.js";
import { sampleServer } from "../support/sample.js";

const open = (): ReturnType<typeof openClient> => openClient(sampleServer(notes));

describe("resources", () => {
  it.each([
    { uri: "note:///1", contents: [{ uri: "note:///1", mimeType: "text/plain", text: "first" }] },
    { uri: "note:///blob", contents: [{ uri: "note:///blob", mimeType: "image/png", blob: "AAEC" }] },
    { uri: "note:///by/a%2Fb", contents: [{ uri: "note:///by/a%2Fb", text: "by a/b" }] },
    {
      uri: "file:///a/b/as/md",
      contents: [{ uri: "file:///a/b/as/md", text: '{"path":"a/b","format":"md"}' }],
    },
  ])("reads $uri", async ({ uri, contents }) => {
    const result = resultOf(await open().askModern("resources/read", { uri }));
    expect(result).toMatchObject({ contents, ttlMs: 0, cacheScope: "private", resultType: "complete" });
    const client = open();
    await client.initialize();
    expect(resultOf(await client.ask("resources/read", { uri }))).toEqual({ contents });
  });

  it.each(["note:///gone", "note:///2", "note:///by/", "note:///by/a/b", "note:///by/%ff", "note:///by/a?b", "x"])(
    "says of %s that it is not there, with the number of each era",
    async (uri) => {
      const client = open();
      expect(errorOf(await client.askModern("resources/read", { uri }))).toMatchObject({ code: -32602, data: { uri } });
      await client.initialize();
      expect(errorOf(await client.ask("resources/read", { uri }))).toMatchObject({ code: -32002, data: { uri } });
    },
  );

  describe("where an address and templates, or several templates, have different permissions", () => {
    const covered: Partial<McpServerOptions<string>> = {
      resources: [{ uri: "x:///d/secret", name: "secret", permission: "admin", read: () => "gold" }],
      resourceTemplates: [
        { uriTemplate: "x:///{name}", name: "hidden", permission: "admin", read: () => "for root" },
        {
          uriTemplate: "x:///{+path}",
          name: "open",
          permission: "use",
          read: ({ variables }) => `open ${variables["path"]}`,
        },
      ],
    };
    it.each([
      { who: "ada", uri: "x:///d/secret", answer: -32602 },
      { who: "root", uri: "x:///d/secret", answer: "gold" },
      { who: "ada", uri: "x:///d/other", answer: "open d/other" },
      { who: "ada", uri: "x:///one", answer: "open one" },
      { who: "root", uri: "x:///one", answer: "for root" },
    ])("$who reading $uri gets $answer", async ({ who, uri, answer }) => {
      const outcomes: string[] = [];
      const observers = [({ outcome }: { readonly outcome: string }) => void outcomes.push(outcome)];
      const client = openClient(sampleServer({ ...covered, observers }), who);
      const response = await client.askModern("resources/read", { uri });
      if (typeof answer === "number") expect(errorOf(response).code).toBe(answer);
      else expect(resultOf(response)).toMatchObject({ contents: [{ text: answer }] });
      expect(outcomes).toEqual([typeof answer === "number" ? "denied" : "success"]);
    });
  });

  it("matches a template in time that grows with the address alone", async () => {
    const client = open();
    const uri = `file:///${"/as".repeat(200_000)}`;
    const started = performance.now();
    await client.askModern("resources/read", { uri });
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it("tells legacy subscribers of updates until they unsubscribe", async () => {
    const server = sampleServer({ ...notes, limits: { maxSubscriptions: 1 } });
    const client = openClient(server);
    await client.initialize();
    resultOf(await client.ask("resources/subscribe", { uri: "note:///1" }));
    expect(errorOf(await client.ask("resources/subscribe", { uri: "note:///blob" })).code).toBe(-32602);
    server.resourceUpdated("note:///1");
    server.resourceUpdated("note:///blob");
    await client.ask("resources/unsubscribe", { uri: "note:///1" });
    server.resourceUpdated("note:///1");
    expect(client.sent).toEqual([
      { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "note:///1" } },
    ]);
  });
});

describe("prompts and completions", () => {
  it("gives a prompt, with its arguments checked", async () => {
    const client = open();
    const get = (name: string, given: Record<string, string | number>) =>
      client.askModern("prompts/get", { name, arguments: given });
    expect(resultOf(await get("greet", { who: "Ada", unknown: "x" }))["messages"]).toEqual([
      { role: "user", content: { type: "text", text: "Greet Ada warmly" } },
    ]);
    expect(resultOf(await get("talk", {}))).toMatchObject({ description: "two", messages: [{ role: "assistant" }] });
    expect(errorOf(await get("greet", {})).message).toContain("who is missing");
    expect(errorOf(await get("greet", { who: 3 })).message).toContain("who is not a string");
  });

  it("lists arguments without their completers", async () => {
    const { prompts } = resultOf(await open().askModern("prompts/list"));
    expect(prompts).toMatchObject([
      { name: "greet", arguments: [{ name: "who", required: true }, { name: "how" }] },
      { name: "talk" },
    ]);
    expect(JSON.stringify(prompts)).not.toContain("complete");
  });

  it("completes prompt arguments and template variables, knowing what was chosen", async () => {
    const client = open();
    const complete = async (ref: object, name: string, value: string, chosen = {}): Promise<unknown> => {
      const params = JSON.parse(JSON.stringify({ ref, argument: { name, value }, context: { arguments: chosen } }));
      return resultOf(await client.askModern("completion/complete", params))["completion"];
    };
    const prompt = { type: "ref/prompt", name: "greet" };
    expect(await complete(prompt, "who", "a")).toEqual({ values: ["ada", "alan"], total: 2, hasMore: false });
    expect(await complete(prompt, "who", "a", { not: "ada" })).toMatchObject({ values: ["alan"] });
    expect(await complete(prompt, "how", "a")).toEqual({ values: [], total: 0, hasMore: false });
    const template = { type: "ref/resource", uri: "note:///by/{author}" };
    expect(await complete(template, "author", "g")).toMatchObject({ values: ["grace"] });
    for (const bad of [{ type: "ref/prompt", name: "no" }, { type: "ref/resource", uri: "no" }, { type: "x" }]) {
      const params = { ref: bad, argument: { name: "who", value: "" } };
      expect(errorOf(await client.askModern("completion/complete", params)).code).toBe(-32602);
    }
  });
});
