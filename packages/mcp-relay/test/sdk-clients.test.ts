import { createRequire } from "node:module";
import { join } from "node:path";
import { listedEnvironment, openChild } from "@berth/stdio-transport";
import { createMemoryPair } from "@berth/stdio-transport/memory";
import { sdkTransport } from "@berth/stdio-transport/sdk";
import { Client as ModernClient } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { CreateMessageRequestSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, it } from "vitest";
import { createRelaySession, type RelaySession } from "../src/index.js";
import { openFixture } from "./support/fixture-servers.js";

const everything = (): string => {
  const require = createRequire(import.meta.url);
  return join(require.resolve("@modelcontextprotocol/server-everything/package.json"), "..", "dist", "index.js");
};

/** server-everything and a fixture behind one relay; the far end is for a client of either SDK. */
const openRelay = (): { readonly session: RelaySession; readonly far: ReturnType<typeof createMemoryPair>[1] } => {
  const [near, far] = createMemoryPair();
  const session = createRelaySession({
    downstream: near,
    servers: [{ name: "everything" }, { name: "echo" }],
    serverInfo: { name: "relay", version: "1.0.0" },
    record: () => undefined,
    async openUpstream(name, { signal }) {
      if (name === "echo") return openFixture("echo.mjs", { signal });
      const env = listedEnvironment(process.env);
      const child = await openChild({ file: process.execPath, args: [everything(), "stdio"], env, signal });
      const { transport, exited } = child;
      return { transport, exited, evidence: { evidence: "spawn-measured" }, close: () => child.close() };
    },
  });
  return { session, far };
};
const capabilities = { sampling: {}, elicitation: {}, roots: {} };
const info = { name: "sdk-client", version: "1.0.0" };

describe("the official SDK's client, 1.x", () => {
  it("lists, calls, gets progress, cancels, and is asked by the server, through the relay", async () => {
    const { session, far } = openRelay();
    const client = new Client(info, { capabilities });
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
      model: "none",
      role: "assistant",
      content: { type: "text", text: `sampled: ${JSON.stringify(params.messages).length > 2}` },
    }));
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "decline" }));
    await client.connect(sdkTransport(far));
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["everything__echo", "everything__get-sum", "echo__add"]));
    const sum = await client.callTool({ name: "echo__add", arguments: { a: 2, b: 3 } });
    expect(sum.content).toEqual([{ type: "text", text: "5" }]);
    const steps: number[] = [];
    const long = { name: "everything__trigger-long-running-operation", arguments: { duration: 0.4, steps: 4 } };
    await client.callTool(long, undefined, { onprogress: ({ progress }) => steps.push(progress) });
    // SDK 1.x forgets a call's progress as soon as its answer is read, so the last step, which comes with the answer, may be lost there.
    expect(steps.slice(0, 3)).toEqual([1, 2, 3]);
    const sampled = await client.callTool({
      name: "everything__trigger-sampling-request",
      arguments: { prompt: "x", maxTokens: 5 },
    });
    expect(JSON.stringify(sampled.content)).toContain("sampled: true");
    const controller = new AbortController();
    const slow = client.callTool({ ...long, arguments: { duration: 30, steps: 2 } }, undefined, {
      signal: controller.signal,
    });
    controller.abort("enough");
    await expect(slow).rejects.toThrow("enough");
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain("everything__simple-prompt");
    expect((await client.listResources()).resources.length).toBeGreaterThan(3);
    await client.close();
    await session.closed;
  });
});

describe("the official SDK's client, 2.x", () => {
  it.each(["legacy", "auto"] as const)("works through the relay with version negotiation %s", async (mode) => {
    const { session, far } = openRelay();
    const client = new ModernClient(info, { capabilities, versionNegotiation: { mode } });
    await client.connect(sdkTransport(far));
    expect(client.getServerVersion()).toMatchObject({ name: "relay" });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["everything__echo", "echo__echo"]));
    const answer = await client.callTool({ name: "everything__echo", arguments: { message: "grüße" } });
    expect(JSON.stringify(answer.content)).toContain("grüße");
    const unknown = client.callTool({ name: "nobody__x", arguments: {} });
    await expect(unknown).rejects.toThrow("Unknown tool: nobody__x");
    await client.close();
    await session.closed;
  });
});
