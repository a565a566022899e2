import { spawn } from "node:child_process";
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client as Client2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioTransport2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioTransport1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterEach, describe, expect, it } from "vitest";
import { type ChildHandle, listedEnvironment, openChild } from "../src/index.js";
import { createMemoryPair } from "../src/memory.js";
import { type SdkTransport, sdkTransport } from "../src/sdk.js";
import { failure, soon } from "./recorder.js";

const env = listedEnvironment(process.env);
const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const everything = path("../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const ownServer = (line: "1" | "2"): readonly string[] => [path("programs/sdk-server.mjs"), line];

const opened: ChildHandle[] = [];
afterEach(async () => {
  for (const child of opened.splice(0)) await child.kill();
});

function overChild(args: readonly string[], counted: () => void = () => undefined): SdkTransport {
  return sdkTransport(async () => {
    counted();
    const child = await openChild({ file: process.execPath, args, env });
    opened.push(child);
    return child.transport;
  });
}

const clients = [
  { line: "1.x", create: () => new Client1({ name: "interop", version: "1.0.0" }) },
  { line: "2.x", create: () => new Client2({ name: "interop", version: "1.0.0" }) },
] as const;

describe.each(clients)("a client of SDK $line over a child", ({ create }) => {
  it("works with server-everything: lists, calls with a large text, gets prompts, and closes", async () => {
    const client = create();
    await client.connect(overChild([everything]));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
    const message = "ü☃\u2028".repeat(100_000);
    const answer = await client.callTool({ name: "echo", arguments: { message } });
    expect(answer.content).toEqual([{ type: "text", text: `Echo: ${message}` }]);
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0);
    await client.close();
    const [child] = opened;
    await soon(child?.ended ?? Promise.reject(new Error("none")), "the end");
  });

  it.each(["1", "2"] as const)("works with a server of SDK %s.x over our streams, started once", async (line) => {
    let starts = 0;
    const client = create();
    await client.connect(overChild(ownServer(line), () => starts++));
    const answer = await client.callTool({ name: "echo", arguments: { text: "hi" } });
    expect(answer.content).toEqual([{ type: "text", text: "hi" }]);
    await client.close();
    expect(starts).toBe(1);
    expect(await opened[0]?.exited).toEqual({ code: 0, signal: null });
  });

  it("tells each waiting call why the child is gone", async () => {
    const client = create();
    const closed = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    await client.connect(overChild(ownServer("1")));
    process.kill(opened[0]?.pid ?? 0, "SIGSTOP");
    const calls = [1, 2].map((n) => failure(client.callTool({ name: "echo", arguments: { text: String(n) } })));
    // Both calls are in the pipe before the end, else they fail by being unsendable, which is another story.
    do await setImmediate();
    while ((opened[0]?.transport.queuedBytes ?? 0) > 0);
    process.kill(opened[0]?.pid ?? 0, "SIGKILL");
    for (const error of await soon(Promise.all(calls), "the failures")) {
      expect(error).toMatchObject({
        message: expect.stringContaining("ended by SIGKILL"),
        data: { reason: "CHILD_EXITED" },
      });
    }
    await soon(closed, "onclose");
  });

  it("rejects `connect` with the reason when the command does not exist", async () => {
    const transport = sdkTransport(async () => (await openChild({ file: "/nowhere/x", args: [], env })).transport);
    expect(await failure(create().connect(transport))).toMatchObject({ code: "CHILD_NOT_STARTED", reason: "ENOENT" });
  });
});

describe.each(["1", "2"] as const)("a server of SDK %s.x over our streams", (line) => {
  it.each([
    { whose: "1.x", create: clients[0].create, Transport: StdioTransport1 },
    { whose: "2.x", create: clients[1].create, Transport: StdioTransport2 },
  ])("works with the stdio transport of SDK $whose itself", async ({ create, Transport }) => {
    const client = create();
    await client.connect(
      new Transport({ command: process.execPath, args: [...ownServer(line)], env, stderr: "inherit" }),
    );
    const answer = await client.callTool({ name: "echo", arguments: { text: "ü" } });
    expect(answer.content).toEqual([{ type: "text", text: "ü" }]);
    await client.close();
  });

  it("ends at the end of its input, though a timer runs", async () => {
    const server = spawn(process.execPath, [...ownServer(line)], { stdio: ["pipe", "pipe", "inherit"] });
    const exited = once(server, "exit");
    server.stdin.end();
    expect(await soon(exited, "the exit")).toEqual([0, null]);
  });
});

describe("the adapter itself", () => {
  it("is started once, closes without start, and tells of what is no message", async () => {
    const [left, right] = createMemoryPair();
    const sdk = sdkTransport(left);
    const errors: Error[] = [];
    const told = new Promise<void>((resolve) => {
      sdk.onerror = (error) => {
        errors.push(error);
        if (errors.length === 2) resolve();
      };
    });
    await sdk.start();
    expect(await failure(sdk.start())).toBeInstanceOf(Error);
    await right.send(Buffer.from('{"jsonrpc":"1.0"}'));
    await right.send(Buffer.from("no json"));
    await soon(told, "the errors");
    expect(errors).toMatchObject([{ name: "FramingError" }, { name: "FramingError" }]);
    await sdk.close();
    const unopened = sdkTransport(async () => left);
    let closes = 0;
    unopened.onclose = () => closes++;
    await unopened.close();
    expect(closes).toBe(1);
  });
});
