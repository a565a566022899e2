import type { JsonObject } from "@berth/jsonrpc-framing";
import { describe, expect, expectTypeOf, it } from "vitest";
import { createMcpServer, defineTool } from "../../src/index.js";
import { legacyRevisions } from "../../src/protocol.js";
import { errorOf, openClient, resultOf } from "../support/client.js";
import { sampleServer, sampleTools } from "../support/sample.js";

describe("initialize and server/discover", () => {
  it.each(legacyRevisions)("settles on %s when it is asked for", async (revision) => {
    const client = openClient(sampleServer());
    const result = resultOf(await client.initialize(revision));
    expect(result).toMatchObject({ protocolVersion: revision, instructions: "Be kind." });
    expect(result["capabilities"]).toEqual({ logging: {}, tools: { listChanged: true } });
    const titled = revision >= "2025-06-18" ? { title: "Sample" } : {};
    const described = revision >= "2025-11-25" ? { description: "for tests" } : {};
    expect(result["serverInfo"]).toEqual({ name: "sample", version: "1.2.3", ...titled, ...described });
    expect(client.connection.revision).toBe(revision);
  });

  it("answers a revision that it does not know with its newest", async () => {
    expect(resultOf(await openClient(sampleServer()).initialize("2026-07-28"))["protocolVersion"]).toBe("2025-11-25");
  });

  it("tells a modern client what it serves, with caching hints and its name", async () => {
    const cacheHints = { ttlMs: 60_000, scope: "public" } as const;
    const client = openClient(sampleServer({ cacheHints }));
    expect(resultOf(await client.askModern("server/discover"))).toEqual({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { logging: {}, tools: { listChanged: true } },
      instructions: "Be kind.",
      ttlMs: 60_000,
      cacheScope: "public",
      _meta: {
        "io.modelcontextprotocol/serverInfo": {
          name: "sample",
          version: "1.2.3",
          title: "Sample",
          description: "for tests",
        },
      },
    });
    expect(client.connection.revision).toBeUndefined();
  });

  it("serves both eras on one connection, each request by its own rules", async () => {
    const client = openClient(sampleServer());
    expect(errorOf(await client.ask("tools/list")).code).toBe(-32602);
    await client.initialize();
    expect(resultOf(await client.ask("tools/list"))["resultType"]).toBeUndefined();
    expect(resultOf(await client.askModern("tools/list"))["resultType"]).toBe("complete");
    expect(resultOf(await client.ask("ping"))).toEqual({});
    expect(errorOf(await client.askModern("ping")).code).toBe(-32601);
    expect(errorOf(await client.askModern("initialize")).code).toBe(-32601);
    expect(errorOf(await client.ask("server/discover")).code).toBe(-32601);
  });

  it("knows no method of what was not registered", async () => {
    const client = openClient(sampleServer());
    await client.initialize();
    for (const method of ["prompts/list", "resources/read", "completion/complete", "toString", "no/such"])
      expect(errorOf(await client.ask(method)).code).toBe(-32601);
  });

  it("refuses what is no message, and answers no notification", async () => {
    const server = sampleServer();
    const client = openClient(server);
    const handle = (message: unknown) => server.handle(message, { principal: "ada", connection: client.connection });
    expect(await handle([])).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32600, message: "an array of messages (a batch) is not accepted" },
    });
    expect(errorOf(await handle({ jsonrpc: "2.0", id: 1, method: "ping", params: [] })).code).toBe(-32602);
    expect(await handle({ jsonrpc: "2.0", method: "no/such" })).toBeUndefined();
    expect(
      await handle({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99 } }),
    ).toBeUndefined();
    await client.askModern("server/discover");
    expect(await handle(7)).not.toHaveProperty("id");
  });
});

describe("tools/list", () => {
  it("shows members that the client's revision knows", async () => {
    const shown = async (revision: string): Promise<unknown> => {
      const client = openClient(sampleServer());
      await client.initialize(revision);
      const { tools } = resultOf(await client.ask("tools/list"));
      return Array.isArray(tools) ? [Object.keys(tools[0]), Object.keys(tools[1])] : [];
    };
    const base = ["name", "description", "inputSchema"];
    expect(await shown("2024-11-05")).toEqual([base, base]);
    expect(await shown("2025-03-26")).toEqual([[...base, "annotations"], base]);
    expect(await shown("2025-06-18")).toEqual([
      ["name", "title", "description", "inputSchema", "annotations"],
      [...base, "outputSchema"],
    ]);
    expect(await shown("2025-11-25")).toEqual([
      ["name", "title", "description", "icons", "inputSchema", "annotations"],
      [...base, "outputSchema"],
    ]);
  });

  it("shows what the principal may use, in the order of registration", async () => {
    const server = sampleServer();
    const names = async (principal: string): Promise<unknown> => {
      const { tools } = resultOf(await openClient(server, principal).askModern("tools/list"));
      return Array.isArray(tools) ? tools.map(({ name }) => name) : [];
    };
    const all = sampleTools.map(({ name }) => name);
    expect(await names("root")).toEqual(all);
    expect(await names("ada")).toEqual(all.filter((name) => name !== "secret"));
  });

  it("gives the same frozen value as long as nothing differs", async () => {
    const client = openClient(sampleServer());
    const first = resultOf(await client.askModern("tools/list"));
    expect(resultOf(await client.askModern("tools/list"))).toBe(first);
    expect(Object.isFrozen(first["tools"])).toBe(true);
  });

  it("are encoded once for each revision and set of visible entries", async () => {
    let encodings = 0;
    const _meta = {
      get seen() {
        encodings += 1;
        return true;
      },
    };
    const tool = { name: "a", description: "a", inputSchema: { type: "object" }, permission: "use", _meta } as const;
    const server = sampleServer({ tools: [{ ...tool, handler: () => "a" }] });
    const [ada, grace, root] = ["ada", "grace", "root"].map((principal) => openClient(server, principal));
    const before = encodings;
    const first = await ada?.askModern("tools/list");
    const once = encodings - before;
    expect(once).toBeGreaterThan(0);
    for (const client of [ada, grace, root])
      expect(await client?.askModern("tools/list", {}, {})).toMatchObject({ result: resultOf(first) });
    expect(encodings - before).toBe(once);
    await ada?.initialize("2025-11-25");
    await ada?.ask("tools/list");
    expect(encodings - before).toBe(2 * once);
  });

  it("pages by a cursor that names only what was shown", async () => {
    const server = sampleServer({ limits: { pageSize: 3 } });
    const client = openClient(server);
    const names: string[] = [];
    let cursor: unknown;
    do {
      const params = typeof cursor === "string" ? { cursor } : {};
      const page = resultOf(await client.askModern("tools/list", params));
      if (Array.isArray(page["tools"])) names.push(...page["tools"].map(({ name }) => name));
      cursor = page["nextCursor"];
    } while (cursor !== undefined);
    expect(names).toEqual(sampleTools.map(({ name }) => name).filter((name) => name !== "secret"));
    for (const bad of ["", "x", 3, Buffer.from("tools:secret").toString("base64url")])
      expect(errorOf(await client.askModern("tools/list", { cursor: bad })).code).toBe(-32602);
  });
});

describe("tools/call", () => {
  it("answers in both eras", async () => {
    const client = openClient(sampleServer());
    await client.initialize();
    const call = { name: "echo", arguments: { text: "hi" } };
    expect(resultOf(await client.ask("tools/call", call))).toEqual({ content: [{ type: "text", text: "hi" }] });
    expect(resultOf(await client.askModern("tools/call", call))).toMatchObject({
      resultType: "complete",
      content: [{ type: "text", text: "hi" }],
    });
  });

  it("tells the model what is wrong with its arguments: as a tool error, before 2025-11-25 as a protocol error", async () => {
    const client = openClient(sampleServer());
    const call = { name: "echo", arguments: { text: 3 } };
    expect(resultOf(await client.askModern("tools/call", call))).toMatchObject({ isError: true });
    await client.initialize("2025-06-18");
    expect(errorOf(await client.ask("tools/call", call))).toMatchObject({ code: -32602 });
    for (const bad of [{}, { name: 3 }, { name: "echo", arguments: [] }])
      expect(errorOf(await client.ask("tools/call", bad)).code).toBe(-32602);
    const always = openClient(sampleServer({ invalidArguments: "tool-error" }));
    await always.initialize("2025-06-18");
    expect(resultOf(await always.ask("tools/call", call))).toMatchObject({ isError: true });
  });

  it("sends structured content as text too, and only to clients that know it", async () => {
    const client = openClient(sampleServer());
    const content = [{ type: "text", text: '{"n":3}' }];
    await client.initialize("2025-03-26");
    expect(resultOf(await client.ask("tools/call", { name: "sum" }))).toEqual({ content });
    await client.initialize("2025-06-18");
    expect(resultOf(await client.ask("tools/call", { name: "sum" }))).toEqual({ content, structuredContent: { n: 3 } });
  });

  it("never sends a result that its own schema refuses", async () => {
    const client = openClient(sampleServer());
    await expect(client.askModern("tools/call", { name: "wrong" })).rejects.toMatchObject({ code: "RESULT_INVALID" });
  });

  it("shows the text of a safe error, and rejects with any other, itself", async () => {
    const client = openClient(sampleServer());
    expect(resultOf(await client.askModern("tools/call", { name: "fails" }))).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "the disk is full" }],
    });
    await expect(client.askModern("tools/call", { name: "breaks" })).rejects.toThrow("hunter2");
  });

  it("is cancelled by its id, and answers nothing then", async () => {
    const client = openClient(sampleServer());
    await client.initialize();
    const answer = client.ask("tools/call", { name: "waits" }, "w");
    const second = await client.ask("ping", undefined, "w");
    expect(errorOf(second)).toMatchObject({ code: -32600 });
    await client.notify("notifications/cancelled", { requestId: "w", reason: "enough" });
    expect(await answer).toBeUndefined();
  });

  it("is cancelled by its signal, also before it began", async () => {
    const server = sampleServer();
    const { connection } = openClient(server);
    const controller = new AbortController();
    const message = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "waits",
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
        },
      },
    };
    const answer = server.handle(message, { principal: "ada", connection, signal: controller.signal });
    controller.abort();
    expect(await answer).toBeUndefined();
    expect(await server.handle(message, { principal: "ada", connection, signal: AbortSignal.abort() })).toBeUndefined();
  });

  it("tells progress that grows to who asked for it, and logs at the level that was asked for", async () => {
    const client = openClient(sampleServer());
    await client.askModern("tools/call", { name: "tells" });
    expect(client.sent).toEqual([]);
    await client.askModern(
      "tools/call",
      { name: "tells" },
      {},
      {
        progressToken: 7,
        "io.modelcontextprotocol/logLevel": "info",
      },
    );
    expect(client.sent.splice(0)).toEqual([
      { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 7, progress: 1, total: 2 } },
      { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 7, progress: 2, total: 2 } },
      {
        jsonrpc: "2.0",
        method: "notifications/message",
        params: { level: "warning", logger: "stove", data: { hot: true } },
      },
    ]);
    await client.initialize();
    expect(errorOf(await client.ask("logging/setLevel", { level: "loud" })).code).toBe(-32602);
    await client.ask("logging/setLevel", { level: "error" });
    await client.ask("tools/call", { name: "tells" });
    expect(client.sent).toEqual([]);
  });

  it("gives handlers the types that their schemas say", async () => {
    const { z } = await import("zod");
    const typed = defineTool({
      name: "next",
      description: "adds one",
      permission: "use",
      inputSchema: z.object({ n: z.number() }),
      handler: ({ arguments: { n } }) => {
        expectTypeOf(n).toEqualTypeOf<number>();
        return String(n + 1);
      },
    });
    const plain = defineTool({
      name: "plain",
      description: "says what came",
      permission: "use",
      inputSchema: { type: "object" },
      handler: ({ arguments: given }) => {
        expectTypeOf(given).toEqualTypeOf<JsonObject>();
        return JSON.stringify(given);
      },
    });
    const client = openClient(sampleServer({ tools: [typed, plain] }));
    expect(resultOf(await client.askModern("tools/call", { name: "next", arguments: { n: 1 } }))).toMatchObject({
      content: [{ text: "2" }],
    });
  });

  it("takes arguments through a Standard Schema, as it makes them", async () => {
    const { z } = await import("zod");
    const server = createMcpServer<string>({
      identity: { name: "z", version: "1" },
      authorize: () => true,
      tools: [
        {
          name: "pad",
          description: "pads",
          permission: "use",
          inputSchema: z.object({ text: z.string(), width: z.number().default(5) }),
          handler: ({ arguments: given }) => JSON.stringify(given),
        },
      ],
    });
    const client = openClient(server);
    const { tools } = resultOf(await client.askModern("tools/list"));
    expect(tools).toMatchObject([{ inputSchema: { type: "object", properties: { text: { type: "string" } } } }]);
    const call = { name: "pad", arguments: { text: "a" } };
    expect(resultOf(await client.askModern("tools/call", call))).toMatchObject({
      content: [{ text: '{"text":"a","width":5}' }],
    });
    expect(resultOf(await client.askModern("tools/call", { name: "pad", arguments: {} }))).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("/text") }],
    });
  });
});
