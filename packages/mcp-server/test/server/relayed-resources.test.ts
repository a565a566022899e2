import type { JsonObject } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";
import { createMcpServer, type McpServer, type RelayedResource, RpcError } from "../../src/index.js";
import { legacyRevisions } from "../../src/protocol.js";
import { errorOf, openClient, resultOf } from "../support/client.js";

const definition = {
  uri: "notes://far/one",
  name: "one",
  title: "One",
  mimeType: "text/plain",
  size: 3,
  annotations: { audience: ["user"], priority: 0.5, odd: 1 },
  icons: [{ src: "https://x.example/i.png" }],
  future: { kept: true },
  _meta: { "com.example/x": 1 },
};
const template = { uriTemplate: "notes://far/all/{name}", name: "all" };

type Options = Parameters<typeof createMcpServer<string>>[0];
const readFrom =
  (who: string): RelayedResource<string>["read"] =>
  async ({ params }) => ({ resultType: "complete", contents: [{ uri: String(params["uri"]), text: who }], odd: 1 });

function serving(more: Partial<Options> = {}): McpServer<string> {
  return createMcpServer<string>({
    identity: { name: "near", version: "1" },
    authorize: ({ permission, principal }) => permission === "use" && principal !== "eve",
    relayedResources: [{ definition, permission: "use", read: readFrom("listed") }],
    relayedResourceTemplates: [
      {
        definition: template,
        permission: "use",
        matches: (uri) => uri.startsWith("notes://far/all/"),
        read: readFrom("template"),
      },
    ],
    ...more,
  });
}

/** Who answers for an address. */
async function whoReads(server: McpServer<string>, uri: string, principal?: string): Promise<unknown> {
  const answer = await openClient(server, principal).askModern("resources/read", { uri });
  return answer !== undefined && "error" in answer
    ? answer.error.code
    : Object(Object(resultOf(answer)["contents"])[0]).text;
}

describe("relayed resources", () => {
  it("are listed to clients of 2026-07-28 as they are; nobody can subscribe to them", async () => {
    const client = openClient(serving());
    expect(resultOf(await client.askModern("resources/list"))["resources"]).toEqual([definition]);
    expect(resultOf(await client.askModern("resources/templates/list"))["resourceTemplates"]).toEqual([template]);
    expect(resultOf(await client.askModern("server/discover"))["capabilities"]).toEqual({
      logging: {},
      resources: { listChanged: true },
    });
    const legacy = openClient(serving());
    await legacy.initialize();
    expect(errorOf(await legacy.ask("resources/subscribe", { uri: definition.uri })).code).toBe(-32601);
  });

  it.each(legacyRevisions)("are listed to clients of %s with what they know", async (revision) => {
    const client = openClient(serving());
    await client.initialize(revision);
    const { resources } = resultOf(await client.ask("resources/list"));
    const { uri, name, mimeType, size, annotations, title, _meta, icons } = definition;
    expect(resources).toEqual([
      {
        ...{ uri, name, mimeType, size, annotations },
        ...(revision >= "2025-06-18" ? { title, _meta } : {}),
        ...(revision >= "2025-11-25" ? { icons } : {}),
      },
    ]);
    expect(resultOf(await client.ask("resources/templates/list"))["resourceTemplates"]).toEqual([template]);
  });

  it("are read by listed address, then by template, then from who takes all others; what the server has itself goes first", async () => {
    const own = { uri: "notes://near/own", name: "own", permission: "use", read: () => "own" };
    const ownTemplate = {
      uriTemplate: "notes://near/{name}",
      name: "t",
      permission: "use",
      read: () => "own template",
    };
    const mixed = { resources: [own], resourceTemplates: [ownTemplate] };
    const server = serving({ ...mixed, relayedAddresses: { permission: "use", read: readFrom("others") } });
    expect(await whoReads(server, "notes://near/own")).toBe("own");
    expect(await whoReads(server, "notes://near/x")).toBe("own template");
    expect(await whoReads(server, definition.uri)).toBe("listed");
    expect(await whoReads(server, "notes://far/all/x")).toBe("template");
    expect(await whoReads(server, "notes://elsewhere/x")).toBe("others");
    expect(await whoReads(serving(mixed), "notes://elsewhere/x")).toBe(-32602);
    for (const uri of [definition.uri, "notes://far/all/x", "notes://elsewhere/x"])
      expect(await whoReads(server, uri, "eve"), uri).toBe(-32602);
    const client = openClient(server);
    await client.initialize();
    expect(resultOf(await client.ask("resources/subscribe", { uri: own.uri }))).toEqual({});
    expect(errorOf(await client.ask("resources/subscribe", { uri: definition.uri })).message).toContain("subscribe");
  });

  it("are not listened to", async () => {
    const server = serving({ resources: [{ uri: "a:b", name: "own", permission: "use", read: () => "own" }] });
    const client = openClient(server);
    const uris = ["a:b", definition.uri, "notes://far/all/x"];
    void client.askModern("subscriptions/listen", { notifications: { resourceSubscriptions: uris } });
    await expect.poll(() => client.sent.length).toBe(1);
    expect(client.sent[0]).toMatchObject({ params: { notifications: { resourceSubscriptions: ["a:b"] } } });
    await client.connection.close();
  });

  it("answer with the result of their server; hints that it left out are the server's own", async () => {
    const read: RelayedResource<string>["read"] = async () => ({ contents: [], cacheScope: "public", odd: 1 });
    const server = serving({ relayedResources: [{ definition, permission: "use", read }] });
    const asked = { uri: definition.uri };
    expect(resultOf(await openClient(server).askModern("resources/read", asked))).toMatchObject({
      ...{ resultType: "complete", contents: [], ttlMs: 0, cacheScope: "public", odd: 1 },
    });
    const client = openClient(server);
    await client.initialize();
    expect(resultOf(await client.ask("resources/read", asked))).toEqual({ contents: [], odd: 1 });
  });

  it.each([
    { name: "of 2026-07-28", code: -32602 },
    { name: "of an older revision", code: -32002 },
  ])(
    "that are not there are told to each client in its own number, whichever a server $name gave",
    async ({ code }) => {
      const read = async (): Promise<JsonObject> => {
        throw new RpcError(code, "no such note", { data: { uri: definition.uri } });
      };
      const server = serving({ relayedResources: [{ definition, permission: "use", read }] });
      const asked = { uri: definition.uri };
      expect(errorOf(await openClient(server).askModern("resources/read", asked))).toMatchObject({ code: -32602 });
      const client = openClient(server);
      await client.initialize();
      expect(errorOf(await client.ask("resources/read", asked))).toMatchObject({
        code: -32002,
        message: "no such note",
      });
    },
  );

  it("keep the number of any other error", async () => {
    const read = async (): Promise<JsonObject> => {
      throw new RpcError(-32002, "not recorded", { data: { code: "AUDIT" } });
    };
    const server = serving({ relayedResources: [{ definition, permission: "use", read }] });
    const answer = await openClient(server).askModern("resources/read", { uri: definition.uri });
    expect(errorOf(answer)).toEqual({ code: -32002, message: "not recorded", data: { code: "AUDIT" } });
  });

  it("complete the variables of their templates where their server does", async () => {
    const completion = { values: ["x"], total: 1, hasMore: false };
    const complete = async (): Promise<JsonObject> => ({ resultType: "complete", completion });
    const of = { definition: template, permission: "use", matches: () => true, read: readFrom("template") };
    const asked = { ref: { type: "ref/resource", uri: template.uriTemplate }, argument: { name: "name", value: "" } };
    const server = serving({ relayedResourceTemplates: [{ ...of, complete }] });
    expect(resultOf(await openClient(server).askModern("completion/complete", asked))).toMatchObject({ completion });
    const other = { ...of, definition: { uriTemplate: "x://{name}", name: "other" } };
    const both = serving({ relayedResourceTemplates: [{ ...of, complete }, other] });
    const none = { ...asked, ref: { type: "ref/resource", uri: "x://{name}" } };
    expect(resultOf(await openClient(both).askModern("completion/complete", none))).toMatchObject({
      completion: { values: [] },
    });
  });

  const read = readFrom("x");
  it.each([
    { name: "has no address", member: "relayedResources", one: { definition: { name: "x" }, permission: "use", read } },
    {
      name: "has an address that is not absolute",
      member: "relayedResources",
      one: { definition: { uri: "one", name: "x" }, permission: "use", read },
    },
    {
      name: "has an address with a line feed",
      member: "relayedResources",
      one: { definition: { uri: "a:b\nc", name: "x" }, permission: "use", read },
    },
    {
      name: "has an address of 8,193 characters",
      member: "relayedResources",
      one: { definition: { uri: `a:${"b".repeat(8_191)}`, name: "x" }, permission: "use", read },
    },
    { name: "has no name", member: "relayedResources", one: { definition: { uri: "a:b" }, permission: "use", read } },
    {
      name: "has annotations that are none",
      member: "relayedResources",
      one: { definition: { ...definition, annotations: { priority: 7 } }, permission: "use", read },
    },
    { name: "has no read", member: "relayedResources", one: { definition, permission: "use" } },
    {
      name: "has no matches",
      member: "relayedResourceTemplates",
      one: { definition: template, permission: "use", read },
    },
    {
      name: "has no template",
      member: "relayedResourceTemplates",
      one: { definition, permission: "use", read, matches: () => true },
    },
    { name: "is no object", member: "relayedResourceTemplates", one: 7 },
  ])("of which one $name are refused at the start, by their place", ({ member, one }) => {
    expect(() =>
      createMcpServer<string>({ identity: { name: "x", version: "1" }, ...Object({ [member]: [one] }) }),
    ).toThrow(expect.objectContaining({ problems: [expect.objectContaining({ where: `${member}[0]` })] }));
  });

  it("with one address twice are refused at the start, and so are addresses that nobody can read", () => {
    const one = { definition, permission: "use", read };
    expect(() => serving({ relayedResources: [one, one] })).toThrow(/registered twice/);
    expect(() => serving({ relayedAddresses: Object({ permission: "" }) })).toThrow(/relayedAddresses/);
  });
});
