import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { type ServedSample, serveSample } from "./served.js";

const info = { name: "sdk-client", version: "1.0.0" };
const capabilities = { elicitation: { form: {} } };
const answers: Readonly<Record<string, Record<string, string>>> = {
  "Who?": { name: "Ada" },
  "Where?": { place: "Turin" },
};
const textOf = (result: unknown): unknown => JSON.parse(JSON.stringify(result)).content[0].text;
const call = (name: string): { method: "tools/call"; params: { name: string } } => ({
  method: "tools/call",
  params: { name },
});

async function connected(
  sample: ServedSample,
  sessionId?: string,
): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const transport = new StreamableHTTPClientTransport(sample.url, sessionId === undefined ? {} : { sessionId });
  const client = new Client(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
    action: "accept",
    content: answers[params.message] ?? {},
  }));
  // The SDK's own types do not fit each other under exactOptionalPropertyTypes.
  const loose: { connect(transport: unknown): Promise<void> } = client;
  await loose.connect(transport);
  return { client, transport };
}

describe("the official SDK's client, 1.x, over HTTP", () => {
  it("uses everything that the server offers, and ends its session", async () => {
    await using sample = await serveSample();
    const { client, transport } = await connected(sample);
    let heard: () => void = () => undefined;
    const changed = new Promise<void>((resolve) => {
      heard = resolve;
    });
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => heard());
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
    expect(textOf(await client.callTool({ name: "echo", arguments: { text: "grüße" } }))).toBe("grüße");
    const steps: number[] = [];
    const told = client.callTool({ name: "waits-here" }, undefined, {
      onprogress: ({ progress }) => void steps.push(progress),
    });
    const { scope, answer } = await sample.nextCall();
    for (const step of [1, 2]) scope.progress(step, 2);
    await expect.poll(() => steps).toEqual([1, 2]);
    answer("told");
    expect(textOf(await told)).toBe("told");
    expect(textOf(await client.callTool({ name: "asks" }))).toBe('[{"name":"Ada"},{"place":"Turin"}]');
    await client.callTool({ name: "changes" });
    await changed;
    expect((await client.readResource({ uri: "note:///1" })).contents).toMatchObject([{ text: "first" }]);
    await expect(client.callTool({ name: "secret" })).rejects.toMatchObject({ code: -32602 });
    await client.setLoggingLevel("error");
    await client.ping();
    expect(sample.http.sessionCount).toBe(1);
    await transport.terminateSession();
    expect(sample.http.sessionCount).toBe(0);
    await client.close();
  });

  it("gets the answer of a call whose handler let go of the stream", async () => {
    await using sample = await serveSample();
    const { client } = await connected(sample);
    const steps: number[] = [];
    const result = await client.callTool({ name: "polls" }, undefined, {
      onprogress: ({ progress }) => void steps.push(progress),
    });
    expect([textOf(result), steps]).toEqual(["polled", [1, 2]]);
    await client.close();
  });

  it("resumes a call from another connection, and misses nothing", async () => {
    await using sample = await serveSample();
    const first = await connected(sample);
    let token: string | undefined;
    const lost = first.client.request(call("waits-here"), CallToolResultSchema, {
      onresumptiontoken: (given) => {
        token = given;
      },
      onprogress: () => undefined,
    });
    lost.catch(() => undefined);
    const { scope, answer } = await sample.nextCall();
    scope.progress(1);
    await expect.poll(() => token).toBeDefined();
    const sessionId = first.transport.sessionId;
    await first.client.close();
    answer("not lost");
    const second = await connected(sample, sessionId);
    const result = await second.client.request(call("waits-here"), CallToolResultSchema, {
      ...(token === undefined ? {} : { resumptionToken: token }),
    });
    expect(textOf(result)).toBe("not lost");
    await second.client.close();
  });

  it("cancels a call", async () => {
    await using sample = await serveSample();
    const { client } = await connected(sample);
    const controller = new AbortController();
    const slow = client.callTool({ name: "waits-here" }, undefined, { signal: controller.signal });
    const { scope, answer } = await sample.nextCall();
    controller.abort();
    await expect(slow).rejects.toThrow();
    await expect.poll(() => scope.signal.aborted).toBe(true);
    answer("nobody hears it");
    await client.ping();
    await client.close();
  });

  it("is told that its session is no more", async () => {
    await using sample = await serveSample();
    const { client, transport } = await connected(sample);
    const other = await connected(sample, transport.sessionId);
    await other.transport.terminateSession();
    await expect(client.ping()).rejects.toMatchObject({ code: 404 });
    for (const one of [client, other.client]) await one.close();
  });
});

describe("the official SDK's client, 2.x, in mode legacy, over HTTP", () => {
  it("uses everything that the server offers, and ends its session", async () => {
    await using sample = await serveSample();
    let heard: (names: readonly string[]) => void = () => undefined;
    const changed = new Promise<readonly string[]>((resolve) => {
      heard = resolve;
    });
    const onChanged = (_error: unknown, items: { name: string }[] | null): void =>
      heard((items ?? []).map(({ name }) => name));
    const client = new ModernClient(info, {
      capabilities,
      versionNegotiation: { mode: "legacy" },
      listChanged: { tools: { onChanged } },
    });
    client.setRequestHandler("elicitation/create", ({ params }) => ({
      action: "accept",
      content: answers[params.message] ?? {},
    }));
    const transport = new ModernTransport(sample.url);
    await client.connect(transport);
    expect(textOf(await client.callTool({ name: "echo", arguments: { text: "grüße" } }))).toBe("grüße");
    expect(textOf(await client.callTool({ name: "asks" }))).toBe('[{"name":"Ada"},{"place":"Turin"}]');
    const steps: number[] = [];
    const polled = await client.callTool(
      { name: "polls" },
      { onprogress: ({ progress }) => void steps.push(progress) },
    );
    expect([textOf(polled), steps]).toEqual(["polled", [1, 2]]);
    await client.callTool({ name: "changes" });
    expect(await changed).toContain("echo");
    expect((await client.readResource({ uri: "note:///1" })).contents).toMatchObject([{ text: "first" }]);
    await expect(client.callTool({ name: "secret" })).rejects.toMatchObject({ code: -32602 });
    expect(sample.http.sessionCount).toBe(1);
    await transport.terminateSession();
    expect(sample.http.sessionCount).toBe(0);
    await client.close();
  });
});
