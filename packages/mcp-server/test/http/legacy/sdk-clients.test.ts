import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { type ServedSample, serveSample } from "./served.js";

const info = { name: "sdk-client", version: "1.0.0" };
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
  const client = new Client(info);
  // The SDK's own types do not fit each other under exactOptionalPropertyTypes.
  const loose: { connect(transport: unknown): Promise<void> } = client;
  await loose.connect(transport);
  return { client, transport };
}

describe("the official SDK's client, 1.x, over HTTP", () => {
  it("ends its session", async () => {
    await using sample = await serveSample();
    const { client, transport } = await connected(sample);
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
  it("ends its session, and gets the answer of a call whose handler let go of the stream", async () => {
    await using sample = await serveSample();
    const client = new ModernClient(info, { versionNegotiation: { mode: "legacy" } });
    const transport = new ModernTransport(sample.url);
    await client.connect(transport);
    const steps: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void steps.push(progress);
    const polled = await client.callTool({ name: "polls" }, { onprogress });
    expect([textOf(polled), steps]).toEqual(["polled", [1, 2]]);
    expect(sample.http.sessionCount).toBe(1);
    await transport.terminateSession();
    expect(sample.http.sessionCount).toBe(0);
    await client.close();
  });

  it("resumes a call from another connection, and misses nothing", async () => {
    await using sample = await serveSample();
    const connect = async (sessionId?: string) => {
      const transport = new ModernTransport(sample.url, sessionId === undefined ? {} : { sessionId });
      const client = new ModernClient(info, { versionNegotiation: { mode: "legacy" } });
      await client.connect(transport);
      return { client, transport };
    };
    const first = await connect();
    let token: string | undefined;
    const onresumptiontoken = (given: string): void => {
      token = given;
    };
    const lost = first.client.request(call("waits-here"), { onresumptiontoken, onprogress: () => undefined });
    lost.catch(() => undefined);
    const { scope, answer } = await sample.nextCall();
    scope.progress(1);
    await expect.poll(() => token).toBeDefined();
    const sessionId = first.transport.sessionId;
    await first.client.close();
    answer("not lost");
    const second = await connect(sessionId);
    const options = token === undefined ? {} : { resumptionToken: token };
    expect(textOf(await second.client.request(call("waits-here"), options))).toBe("not lost");
    await second.client.close();
  });
});
