import { spawn } from "node:child_process";
import { once } from "node:events";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { partsForAll } from "../../../fixtures/parts.js";
import { bin, entryOf, makeWorld, talk } from "./plugin-host.js";

const world = makeWorld();
const config = world.config("plugins.yaml", {
  guard: entryOf("filters.Guard", "", "tool_pre_invoke, tool_post_invoke"),
});
const slow = world.config("slow.yaml", { slow: entryOf("filters.Slow") });
const invoke = (id: number, payload: object, more: object = {}): object => ({
  jsonrpc: "2.0",
  id,
  method: "hooks/invoke",
  params: { hook: "tool_pre_invoke", payload, ...more },
});

describe("serve --stdio", { timeout: 100_000 }, () => {
  const isReady = partsForAll("python3-venv");
  beforeAll(async () => {
    if (!isReady) return;
    expect(await world.run(["venv", "build", "--config", config])).toMatchObject({ code: 0 });
  }, 120_000);

  it("lists plugins, says how they do, and runs their hooks", async () => {
    const client = talk(world, ["--config", config]);
    client.send({ jsonrpc: "2.0", id: 1, method: "plugins/list" });
    expect(await client.next()).toMatchObject({
      id: 1,
      result: { plugins: [{ name: "guard", evidence: { environmentDigest: expect.any(String) } }] },
    });
    client.send({ jsonrpc: "2.0", id: 2, method: "plugins/health" });
    expect(await client.next()).toMatchObject({ id: 2, result: { ok: true, plugins: [{ state: "ready" }] } });
    client.send(invoke(3, { name: "rm" }));
    expect(await client.next()).toMatchObject({ id: 3, result: { allowed: false, violation: { code: "NO_RM" } } });
    expect(await client.end()).toBe(0);
  });

  it("gives a hook after a call what was noted before it, to the same request only", async () => {
    const client = talk(world, ["--config", config]);
    client.send(invoke(1, { name: "add" }));
    const { result } = await client.next();
    expect(result).toMatchObject({ allowed: true, requestId: expect.any(String), carried: expect.any(String) });
    const { requestId, carried }: Record<string, unknown> = { ...Object(result) };
    const after = { hook: "tool_post_invoke", payload: { name: "add", result: 1 }, carried };
    client.send({ jsonrpc: "2.0", id: 2, method: "hooks/invoke", params: after });
    expect(await client.next()).toMatchObject({ id: 2, result: { requestId } });
    client.send({
      jsonrpc: "2.0",
      id: 3,
      method: "hooks/invoke",
      params: { ...after, context: { requestId: "other" } },
    });
    expect(await client.next()).toMatchObject({ id: 3, error: { code: -32602 } });
    client.send({ jsonrpc: "2.0", id: 4, method: "hooks/invoke", params: { ...after, carried: "made-up" } });
    expect(await client.next()).toMatchObject({ id: 4, error: { code: -32602, data: { code: "REQUEST_INVALID" } } });
  });

  it("answers what it was asked before the client ended its input", async () => {
    const client = talk(world, ["--config", config]);
    client.send(invoke(1, { name: "rm" }));
    const ended = client.end();
    expect(await client.next()).toMatchObject({ id: 1, result: { allowed: false } });
    expect(await ended).toBe(0);
  });

  it("takes a request back, and answers the next one", async () => {
    const client = talk(world, ["--config", slow]);
    client.send(invoke(1, { name: "a", args: { seconds: 1 } }));
    client.send({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id: 1 } });
    expect(await client.next()).toMatchObject({ id: 1, error: { code: -32003 } });
    client.send(invoke(2, { name: "a", args: { seconds: 0 } }));
    expect(await client.next()).toMatchObject({ id: 2, result: { allowed: true } });
  });

  it("answers what is under way when it is told to end", async () => {
    const client = talk(world, ["--config", slow]);
    client.send({ jsonrpc: "2.0", id: 1, method: "plugins/health" });
    expect(await client.next()).toMatchObject({ id: 1 });
    client.send(invoke(2, { name: "a", args: { seconds: 60 } }));
    client.send({ jsonrpc: "2.0", id: 3, method: "plugins/list" });
    expect(await client.next()).toMatchObject({ id: 3 });
    const ended = client.terminate();
    expect(await client.next()).toMatchObject({ id: 2, error: { code: -32000 } });
    expect(await ended).toBe(0);
  });

  it("reads no more from a client that does not read, and ends all the same when it is told to", async () => {
    const child = spawn(process.execPath, [bin, "serve", "--stdio", "--config", config, ...world.options], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const exited = once(child, "exit"); // not "close": what it wrote is never read
    child.stdin.on("error", () => {}); // it ends before it has read all
    child.stderr.resume();
    // Their answers are many times as much: most of these lines have to be left where they are.
    const taken = new Promise((resolve) => child.stdin.write("{\n".repeat(700_000), resolve));
    await once(child.stdout, "readable");
    child.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
    expect(await taken).toBeInstanceOf(Error);
  }, 60_000);

  it.each([
    { name: "what is no JSON", send: "{", error: { code: -32700 } },
    { name: "a list of requests", send: "[]", error: { code: -32600 } },
    { name: "a method that there is not", send: { jsonrpc: "2.0", id: 1, method: "x" }, error: { code: -32601 } },
    {
      name: "a misspelled member",
      send: invoke(1, {}, { contxt: 1 }),
      error: { code: -32602, data: { code: "REQUEST_INVALID" } },
    },
    {
      name: "a payload of another hook",
      send: invoke(1, { uri: "a" }),
      error: { code: -32602, data: { code: "PAYLOAD_INVALID" } },
    },
    {
      name: "parameters where there are none",
      send: { jsonrpc: "2.0", id: 1, method: "plugins/list", params: { a: 1 } },
      error: { code: -32602 },
    },
  ])("answers $name with an error, and goes on", async ({ send, error }) => {
    const client = talk(world, ["--config", config]);
    client.send(send);
    expect(await client.next()).toMatchObject({ error });
    client.send({ jsonrpc: "2.0", id: 9, method: "plugins/list" });
    expect(await client.next()).toMatchObject({ id: 9, result: { plugins: [{ name: "guard" }] } });
  });
});
