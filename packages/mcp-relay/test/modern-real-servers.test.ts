import { fileURLToPath } from "node:url";
import { listedEnvironment, openChild } from "@berth/stdio-transport";
import { createMemoryPair } from "@berth/stdio-transport/memory";
import { sdkTransport } from "@berth/stdio-transport/sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ProgressNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { partTest, pythonOf } from "../../../fixtures/parts.js";
import { createRelaySession, inspectServer, type UpstreamConnection } from "../src/index.js";
import { createTestClient } from "./support/relay-harness.js";
import { createWireEnd } from "./support/wire-end.js";

const pathOf = (file: string): string => fileURLToPath(new URL(`./support/${file}`, import.meta.url));
const env = listedEnvironment(process.env);
type Start = () => Promise<UpstreamConnection>;

const starting =
  (file: string, ...args: readonly string[]): Start =>
  async () => {
    const child = await openChild({ file, args, env });
    return {
      transport: child.transport,
      evidence: { evidence: "spawn-measured" },
      exited: child.exited,
      close: () => child.close(),
    };
  };
const sdk = (mode: "serve" | "reject"): Start => starting(process.execPath, pathOf("sdk-modern-server.mjs"), mode);
const python = (): Start => starting(pythonOf("mcp"), pathOf("python_modern_server.py"));

/** An SDK 1.x client that offers everything, behind a relay. */
async function openClient(start: Start) {
  const [near, far] = createMemoryPair();
  const session = createRelaySession({
    downstream: near,
    servers: [{ name: "one" }],
    names: "plain",
    passThroughInitialize: true,
    serverInfo: { name: "relay", version: "0" },
    record: () => undefined,
    openUpstream: () => start(),
  });
  const client = new Client(
    { name: "old", version: "1" },
    { capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } } },
  );
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { ok: true } }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///r" }] }));
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: "none",
    role: "assistant",
    content: { type: "text", text: "said" },
  }));
  const transport = sdkTransport(far);
  await client.connect(transport);
  /** Progress as it came: SDK 1.x forgets a call's progress as soon as its answer is read, so what comes with the answer may be lost there. */
  const progress: number[] = [];
  const take = transport.onmessage;
  transport.onmessage = (message) => {
    const told = ProgressNotificationSchema.safeParse(message);
    if (told.success) progress.push(told.data.params.progress);
    take?.(message);
  };
  return {
    client,
    progress,
    async [Symbol.asyncDispose]() {
      await client.close();
      await session.closed;
    },
  };
}

describe("a server of the official SDK 2.x that serves 2026-07-28 alone, for a client of SDK 1.x", () => {
  it("introduces itself, lists, answers, asks, tells progress and changes, and is cancelled", async () => {
    await using opened = await openClient(sdk("reject"));
    const { client, progress } = opened;
    expect(client.getServerVersion()).toMatchObject({ name: "sdk-server", version: "2.0.0" });
    expect(client.getInstructions()).toBe("from the SDK");
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("asks");
    const asked = await client.callTool({ name: "asks", arguments: {} });
    for (const said of ["accept", '\\"ok\\":true', "said", "file:///r"]) expect(JSON.stringify(asked)).toContain(said);
    await client.callTool({ name: "steps", arguments: {} }, undefined, { onprogress: () => {} });
    expect(progress.slice(0, 2)).toEqual([1, 2]);
    const controller = new AbortController();
    const waiting = client.callTool({ name: "waits", arguments: {} }, undefined, { signal: controller.signal });
    controller.abort("enough");
    await expect(waiting).rejects.toThrow("enough");
    const changed = new Promise((resolve) =>
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve(true)),
    );
    await client.callTool({ name: "grows", arguments: {} });
    expect(await changed).toBe(true);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("grown");
  }, 30_000);

  it("is pinned as it says of itself", async () => {
    const inspection = await inspectServer(await sdk("reject")(), {
      server: "one",
      clientInfo: { name: "pin", version: "0" },
    });
    expect(inspection.problems).toEqual([]);
    expect(inspection.initialize).toMatchObject({ protocolVersion: "2025-11-25", instructions: "from the SDK" });
    expect(inspection.tools.map(({ name }) => name)).toEqual(["echo", "asks", "steps", "waits", "grows"]);
  }, 30_000);
});

describe("a server of the official SDK 2.x that serves both eras", () => {
  it("is spoken to in the older one, and answers as it does directly: every frame to the byte", async () => {
    const direct = await sdk("serve")();
    const plain = createTestClient(createWireEnd(direct.transport));
    const [near, far] = createMemoryPair();
    const session = createRelaySession({
      downstream: near,
      servers: [{ name: "one" }],
      names: "plain",
      passThroughInitialize: true,
      serverInfo: { name: "relay", version: "0" },
      record: () => undefined,
      openUpstream: () => sdk("serve")(),
    });
    const through = createTestClient(createWireEnd(far));
    for (const client of [plain, through]) {
      await client.initialize();
      await client.request("tools/list", {}, 5);
      await client.request("tools/call", { name: "echo", arguments: {} }, 6);
      await client.request("no/such", {}, 7);
    }
    expect(through.received.map(({ text }) => text)).toEqual(plain.received.map(({ text }) => text));
    await direct.close();
    await session.close();
  }, 30_000);
});

describe("a server of Python's mcp library that serves 2026-07-28 alone, for a client of SDK 1.x", () => {
  partTest("python-mcp")(
    "introduces itself, lists, answers and asks",
    async () => {
      await using opened = await openClient(python());
      const { client } = opened;
      expect(client.getServerVersion()).toMatchObject({ name: "python-server" });
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo", "asks"]);
      const echo = await client.callTool({ name: "echo", arguments: { text: "grüße" } });
      expect(echo.content).toEqual([{ type: "text", text: "grüße" }]);
      const asked = await client.callTool({ name: "asks", arguments: {} });
      expect(JSON.stringify(asked.content)).toContain("sure: True");
    },
    30_000,
  );
});
