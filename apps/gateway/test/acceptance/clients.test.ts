/** The official clients (SDK 1.x, SDK 2.x, Python's) work through the gateway, with requests in both directions. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client as Client2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioClientTransport2 } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CreateMessageRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, describe, expect, it } from "vitest";
import { partTest, pythonOf } from "../../../../fixtures/parts.js";
import { handshake, startRawClient } from "./raw-client.js";

const bin = fileURLToPath(new URL("../../bin/berth-gateway.js", import.meta.url));
const everything = fileURLToPath(
  new URL("../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);
const scratch = mkdtempSync(join(tmpdir(), "berth-clients-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const throughGateway = (state: string): string[] => [
  bin,
  "run",
  "--state",
  join(scratch, state),
  "--",
  "node",
  everything,
];

describe("SDK 1.x", () => {
  it("lists, calls, gets prompts and completions, reads and subscribes", async () => {
    const client = new Client({ name: "sdk1", version: "1.0.0" });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: throughGateway("sdk1"),
      stderr: "ignore",
    });
    await client.connect(transport);
    try {
      expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("echo");
      const answer = await client.callTool({ name: "echo", arguments: { message: "hi" } });
      expect(answer.content).toEqual([{ type: "text", text: "Echo: hi" }]);
      expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0);
      const completion = await client.complete({
        ref: { type: "ref/prompt", name: "completable-prompt" },
        argument: { name: "department", value: "E" },
      });
      expect(completion.completion.values).toContain("Engineering");
      const [resource] = (await client.listResources()).resources;
      expect((await client.readResource({ uri: resource?.uri ?? "" })).contents.length).toBe(1);
      await client.subscribeResource({ uri: resource?.uri ?? "" });
      await client.setLoggingLevel("debug");
      await client.ping();
    } finally {
      await client.close();
    }
  });

  it("answers the server's own requests: sampling and roots", async () => {
    const client = new Client(
      { name: "sdk1", version: "1.0.0" },
      { capabilities: { sampling: {}, roots: { listChanged: true } } },
    );
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      model: "none",
      role: "assistant",
      content: { type: "text", text: "sampled" },
    }));
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///berth", name: "berth" }] }));
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: throughGateway("both-ways"),
      stderr: "ignore",
    });
    await client.connect(transport);
    try {
      const tools = (await client.listTools()).tools.map((tool) => tool.name);
      expect(tools).toContain("trigger-sampling-request");
      const sampled = await client.callTool({
        name: "trigger-sampling-request",
        arguments: { prompt: "p", maxTokens: 5 },
      });
      expect(JSON.stringify(sampled.content)).toContain("sampled");
      const roots = await client.callTool({ name: "get-roots-list", arguments: {} });
      expect(JSON.stringify(roots.content)).toContain("file:///berth");
    } finally {
      await client.close();
    }
  });

  it("gets progress, and can cancel", async () => {
    const client = new Client({ name: "sdk1", version: "1.0.0" });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: throughGateway("progress"),
      stderr: "ignore",
    });
    await client.connect(transport);
    try {
      const seen: number[] = [];
      const call = { name: "trigger-long-running-operation", arguments: { duration: 0.2, steps: 4 } };
      await client.callTool(call, undefined, { onprogress: ({ progress }) => seen.push(progress) });
      // This client drops progress that it reads together with the answer; that none is lost is checked on the wire below.
      expect([1, 2, 3, 4].slice(0, seen.length)).toEqual(seen);
      expect(seen.length).toBeGreaterThan(0);
      const abort = new AbortController();
      const long = { name: "trigger-long-running-operation", arguments: { duration: 60, steps: 60_000 } };
      const cancelled = client.callTool(long, undefined, {
        signal: abort.signal,
        onprogress: () => abort.abort(new Error("enough")),
      });
      await expect(cancelled).rejects.toThrow("enough");
      await client.ping();
    } finally {
      await client.close();
    }
  });
});

describe("a client that looks at the wire", () => {
  it("gets every progress notification of a call, in order, before its answer", async () => {
    await using client = startRawClient(process.execPath, throughGateway("wire"));
    await handshake(client);
    await client.request("tools/list");
    await client.request("tools/call", {
      name: "trigger-long-running-operation",
      arguments: { duration: 0.2, steps: 4 },
      _meta: { progressToken: "t1" },
    });
    const progress = client.unasked
      .filter((line) => line.includes("notifications/progress"))
      .map((line) => JSON.parse(line).params);
    expect(progress).toMatchObject([1, 2, 3, 4].map((step) => ({ progress: step, progressToken: "t1" })));
  });
});

describe("SDK 2.x", () => {
  for (const mode of ["legacy", "auto"] as const) {
    it(`connects, lists and calls with version negotiation "${mode}"`, async () => {
      const client = new Client2({ name: "sdk2", version: "1.0.0" }, { versionNegotiation: { mode } });
      const transport = new StdioClientTransport2({
        command: process.execPath,
        args: throughGateway(`sdk2-${mode}`),
        stderr: "ignore",
      });
      await client.connect(transport);
      try {
        expect((await client.listTools()).tools.map((tool) => tool.name)).toContain("echo");
        const answer = await client.callTool({ name: "echo", arguments: { message: "hi" } });
        expect(answer.content).toEqual([{ type: "text", text: "Echo: hi" }]);
      } finally {
        await client.close();
      }
    });
  }
});

describe("Python's client", () => {
  for (const mode of ["legacy", "auto"]) {
    partTest("python-mcp")(
      `connects, lists and calls in mode "${mode}"`,
      async () => {
        const script = fileURLToPath(new URL("clients/python-client.py", import.meta.url));
        const args = [script, mode, "echo", '{"message":"hi"}', process.execPath, ...throughGateway(`python-${mode}`)];
        const { stdout } = await promisify(execFile)(pythonOf("mcp"), args, { timeout: 60_000 });
        expect(JSON.parse(stdout)).toMatchObject({ text: ["Echo: hi"] });
      },
      90_000,
    );
  }
});
