import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Listening, listen } from "@berth/command-line/http";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { partTest, pythonOf } from "../../../../fixtures/parts.js";
import { type Served, serve } from "./support/served.js";

let served: Served;
let listening: Listening;
let url: URL;
beforeAll(async () => {
  served = await serve();
  listening = await listen({
    address: { host: "127.0.0.1", port: 0 },
    handle: served.doors.handle,
    maxConnections: 64,
    authenticated: false,
  });
  url = new URL(`${listening.url}/mcp`);
});
afterAll(async () => {
  await listening.close(1_000);
  await served[Symbol.asyncDispose]();
});

const info = { name: "sdk-client", version: "1.0.0" };
const seen = { started: "active", value: "42", listed: 1, stopped: "stopped", tools: 4 };

type Call = (name: string, args: Record<string, unknown>) => Promise<{ readonly structuredContent?: unknown }>;

/** What a client does with a session, and what it is told. */
async function drive(call: Call, id: string): Promise<Record<string, unknown>> {
  const value = async (name: string, args: Record<string, unknown>) =>
    JSON.parse(JSON.stringify((await call(name, args)).structuredContent));
  const started = await value("start_python_session", { session_id: id });
  await value("execute_python_code", { command: "x = 6", session_id: id });
  const ran = await value("execute_python_code", { command: "x * 7", session_id: id });
  const listed = await value("list_python_sessions", {});
  const stopped = await value("stop_python_session", { session_id: id });
  return { started: started.status, value: ran.result, listed: listed.result.length, stopped: stopped.status };
}

describe("the official clients drive a session", () => {
  it("SDK 1.x", async () => {
    const client = new Client(info);
    // The SDK's own types do not fit each other under exactOptionalPropertyTypes.
    const loose: { connect(transport: unknown): Promise<void> } = client;
    await loose.connect(new StreamableHTTPClientTransport(url));
    const driven = await drive(async (name, args) => {
      const { structuredContent } = await client.callTool({ name, arguments: args });
      return { structuredContent };
    }, "sdk-1");
    const { tools } = await client.listTools();
    expect({ ...driven, tools: tools.length }).toEqual(seen);
    await client.close();
  });

  it.each(["legacy", "auto", "2026-07-28"] as const)("SDK 2.x, %s", async (mode) => {
    const negotiated = mode === "2026-07-28" ? { pin: mode } : mode;
    const client = new ModernClient(info, { versionNegotiation: { mode: negotiated } });
    await client.connect(new ModernTransport(url));
    const driven = await drive((name, args) => client.callTool({ name, arguments: args }), `sdk-2-${mode}`);
    const { tools } = await client.listTools();
    expect({ ...driven, tools: tools.length }).toEqual(seen);
    await client.close();
  });

  for (const mode of ["legacy", "auto", "2026-07-28"]) {
    partTest("python-mcp")(`Python's mcp, ${mode}`, async () => {
      const program = fileURLToPath(new URL("clients/session.py", import.meta.url));
      const { stdout } = await promisify(execFile)(pythonOf("mcp"), [program, url.href, mode], { timeout: 25_000 });
      expect(JSON.parse(stdout)).toEqual(seen);
    });
  }
});

it("none of this was a fault of the server", () => {
  expect(served.faults).toEqual([]);
});
