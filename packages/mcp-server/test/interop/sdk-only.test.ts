import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
  SSEClientTransport as ModernSse,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { answerTo, clientCapabilities, clientInfo, serverProgram } from "./answers.js";
import { textOf } from "./features/feature.js";
import { connectSdk1 } from "./sdk-1.js";
import { connectSdk2, type Mode, modes } from "./sdk-2.js";
import { type Served, serveInterop } from "./served.js";

let served: Served;
beforeAll(async () => {
  served = await serveInterop();
});
afterAll(() => served.stop());

const stdio = (mode = "stdio", era = "") => ({
  command: process.execPath,
  args: [serverProgram, mode, era],
  stderr: "ignore" as const,
});
const bearer = (token = served.token): { requestInit: RequestInit } => ({
  requestInit: { headers: { authorization: `Bearer ${token}` } },
});
const pin = { pin: "2026-07-28" } as const;

describe("a server with a transport of its own", () => {
  it("pings its client of SDK 1.x", async () => {
    await using subject = await connectSdk1(new StdioClientTransport(stdio("own")));
    expect(textOf(await subject.call("pings"))).toBe("pinged");
  });

  it("pings its client of SDK 2.x, and asks nothing by itself in 2026-07-28", async () => {
    await using legacy = await connectSdk2(new ModernStdio(stdio("own")), "legacy");
    expect(textOf(await legacy.call("pings"))).toBe("pinged");
    await using modern = await connectSdk2(new ModernStdio(stdio("own")), pin);
    await expect(modern.call("pings")).rejects.toThrow();
  });
});

describe("a bearer token", () => {
  it("that is wrong or absent keeps SDK 1.x out", async () => {
    for (const init of [bearer("wrong"), {}]) {
      await expect(connectSdk1(new StreamableHTTPClientTransport(served.url, init))).rejects.toMatchObject({
        code: 401,
      });
    }
  });

  it.each(modes)("that is wrong keeps SDK 2.x out, mode %j; one from an AuthProvider lets it in", async (mode) => {
    await expect(connectSdk2(new ModernHttp(served.url, bearer("wrong")), mode)).rejects.toThrow();
    const authProvider = { token: async () => served.token };
    await using subject = await connectSdk2(new ModernHttp(served.url, { authProvider }), mode);
    expect(textOf(await subject.call("echo", { text: "let in" }))).toBe("let in");
  });
});

describe("which revision SDK 2.x agrees on", () => {
  it.each<{ mode: Mode; era: string; agreed?: string; refusal?: RegExp }>([
    { mode: "auto", era: "legacy", agreed: "2025-11-25" },
    { mode: "auto", era: "modern", agreed: "2026-07-28" },
    { mode: "legacy", era: "modern", refusal: /version/i },
    { mode: pin, era: "legacy", refusal: /version|negotiat|2026-07-28/i },
  ])("mode $mode at a server that is $era only", async ({ mode, era, agreed, refusal }) => {
    const connected = connectSdk2(new ModernStdio(stdio("stdio", era)), mode);
    if (refusal !== undefined) {
      await expect(connected).rejects.toThrow(refusal);
      return;
    }
    await using subject = await connected;
    expect(subject.revision()).toBe(agreed);
    expect(textOf(await subject.call("echo", { text: "agreed" }))).toBe("agreed");
  });

  it("an older one that it supports alone", async () => {
    const client = new ModernClient(clientInfo, { supportedProtocolVersions: ["2025-03-26"] });
    await client.connect(new ModernHttp(served.url, bearer()));
    expect(client.getNegotiatedProtocolVersion()).toBe("2025-03-26");
    const { content } = await client.callTool({ name: "contents" });
    expect(content.map(({ type }) => type)).toEqual(["text", "image", "audio", "text", "resource", "resource"]);
    await client.close();
  });

  it("an earlier discovery of its own, without asking again", async () => {
    await using found = await connectSdk2(new ModernHttp(served.url, bearer()), "auto");
    const discover = await found.client.discover();
    const client = new ModernClient(clientInfo);
    await client.connect(new ModernHttp(served.url, bearer()), { prior: { kind: "modern", discover } });
    expect([client.getProtocolEra(), client.getInstructions()]).toEqual(["modern", "Use echo first."]);
    expect(textOf(await client.callTool({ name: "echo", arguments: { text: "adopted" } }))).toBe("adopted");
    await client.close();
  });
});

describe("what SDK 2.x alone has for 2026-07-28", () => {
  const connect = (mode: Mode = pin) => connectSdk2(new ModernHttp(served.url, bearer()), mode);

  it("rounds that its caller drives", async () => {
    await using subject = await connect();
    const params = { name: "asks", arguments: { what: "accept" } };
    const asked = Object(await subject.client.callTool(params, { allowInputRequired: true }));
    expect(asked).toMatchObject({
      resultType: "input_required",
      inputRequests: { a: { method: "elicitation/create" } },
    });
    const inputResponses = { a: answerTo("Accept, please") };
    const again = { ...params, inputResponses, requestState: asked.requestState };
    const result = await subject.client.request({ method: "tools/call", params: again });
    expect(textOf(result)).toBe('{"a":{"action":"accept","content":{"name":"Ada"}}}');
  });

  it("a cache, until the list has changed", async () => {
    let lists = 0;
    const transport = new ModernHttp(served.url, {
      ...bearer(),
      fetch: (url, init) => {
        if (String(init?.body).includes('"prompts/list"')) lists += 1;
        return fetch(url, init);
      },
    });
    await using subject = await connectSdk2(transport, pin);
    const { prompts } = await subject.client.listPrompts();
    expect([prompts.length, lists]).toEqual([5, 2]); // all pages
    await subject.client.listPrompts();
    expect(lists).toBe(2);
    await subject.client.listPrompts(undefined, { cacheMode: "refresh" });
    expect(lists).toBe(4);
    await subject.call("changes", { what: "prompts" });
    await subject.heard.until("prompts changed", 1); // having asked for it again
    expect(lists).toBe(6);
  });

  it("listening that it ends itself, to as much as the server honours", async () => {
    await using subject = await connect();
    const listen = await subject.client.listen({ toolsListChanged: true, resourceSubscriptions: ["note:///1"] });
    expect(listen.honoredFilter).toEqual({ toolsListChanged: true, resourceSubscriptions: ["note:///1"] });
    expect(subject.client.autoOpenedSubscription).toBeDefined();
    await listen.close();
    expect(await listen.closed).toBe("local");
  });

  it("a definition of a tool that it checks results by", async () => {
    await using subject = await connect();
    const { tools } = await subject.client.listTools();
    const weather = tools.find(({ name }) => name === "weather");
    if (weather === undefined) throw new Error("no such tool");
    const params = { name: "weather", arguments: { sky: "clear" } };
    await subject.client.callTool(params, { toolDefinition: weather });
    const outputSchema = { type: "object" as const, required: ["kelvin"] };
    await expect(subject.client.callTool(params, { toolDefinition: { ...weather, outputSchema } })).rejects.toThrow();
  });
});

describe("tasks", () => {
  it("of 2025-11-25, which SDK 1.x has, are not offered: its stream of a call is an ordinary call", async () => {
    await using subject = await connectSdk1(new StdioClientTransport(stdio()));
    const { tasks } = subject.client.experimental;
    const told: unknown[] = [];
    for await (const message of tasks.callToolStream({ name: "reports", arguments: {} })) told.push(message);
    expect(told).toMatchObject([{ type: "result", result: { content: [{ text: expect.stringContaining("Ada") }] } }]);
    expect(subject.client.getServerCapabilities()).not.toHaveProperty("tasks");
    await expect(tasks.listTasks()).rejects.toThrow();
  });

  it("of 2026-07-28 have no interface in SDK 2.x, which reads no result of that kind", async () => {
    const names = Object.getOwnPropertyNames(ModernClient.prototype);
    expect(names.filter((name) => /task/i.test(name))).toEqual([]);
    const extensions = { "io.modelcontextprotocol/tasks": {} };
    const capabilities = { ...clientCapabilities, extensions };
    const client = new ModernClient(clientInfo, { capabilities, versionNegotiation: { mode: pin } });
    await client.connect(new ModernHttp(served.url, bearer()));
    const call = { method: "tools/call", params: { name: "reports", arguments: {} } };
    await expect(client.request(call, z.looseObject({}))).rejects.toThrow(/resultType|result type|task/i);
    await client.close();
  });
});

describe("the transport of 2024-11-05 over HTTP", () => {
  it("is not served", async () => {
    const old = new SSEClientTransport(served.url, bearer());
    await expect(new Client(clientInfo).connect(old)).rejects.toThrow();
    await expect(new ModernClient(clientInfo).connect(new ModernSse(served.url, bearer()))).rejects.toThrow();
  });
});
