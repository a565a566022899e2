import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { partsForAll } from "../../../fixtures/parts.js";
import { entryOf, makeWorld, run, type Served, serve } from "./plugin-host.js";

const world = makeWorld();
const config = world.config("plugins.yaml", { guard: entryOf("filters.Guard") });
const broken = world.config("broken.yaml", { lost: entryOf("filters.Guard").replace("requirements.txt", "no.txt") });
const json = { "content-type": "application/json" };
const deny = {
  jsonrpc: "2.0",
  id: 1,
  method: "hooks/invoke",
  params: { hook: "tool_pre_invoke", payload: { name: "rm" } },
};

function post(url: string, body: object | string, headers: Record<string, string> = json): Promise<Response> {
  return fetch(url, { method: "POST", headers, body: typeof body === "string" ? body : JSON.stringify(body) });
}

/** With headers that `fetch` sets itself. */
function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

describe("serve --http", { timeout: 100_000 }, () => {
  const isReady = partsForAll("python3-venv");
  beforeAll(async () => {
    if (!isReady) return;
    expect(await world.run(["venv", "build", "--config", config])).toMatchObject({ code: 0 });
  }, 120_000);

  it("runs hooks at /rpc, tells health and figures, and ends with 0 when it is told to", async () => {
    const { url, end } = await serve(world, ["--config", config]);
    const answer = await post(`${url}/rpc`, deny);
    expect([answer.status, await answer.json()]).toMatchObject([200, { id: 1, result: { allowed: false } }]);
    const health = await fetch(`${url}/health`);
    expect([health.status, await health.json()]).toEqual([200, { ok: true, plugins: { guard: "ready" } }]);
    await post(`${url}/rpc`, { ...deny, params: { hook: "made-up-by-a-client", payload: {} } });
    const figures = await (await fetch(`${url}/metrics`)).text();
    expect(figures).toContain('plugin_host_hooks_total{hook="tool_pre_invoke",outcome="denied"} 1\n');
    expect(figures).toContain(
      'plugin_host_executions_total{plugin="guard",hook="tool_pre_invoke",status="denied"} 1\n',
    );
    expect(figures).toContain('plugin_host_plugins{state="ready"} 1\n');
    expect(figures).not.toContain("made-up-by-a-client");
    expect(await end()).toBe(0);
  });

  it("is an MCP server at /mcp, whose tools are the same methods", async () => {
    const { url } = await serve(world, ["--config", config]);
    const call = (name: string, given: object): Promise<unknown> => callTool(`${url}/mcp`, name, given);
    expect(await call("list_plugins", {})).toMatchObject({ structuredContent: { plugins: [{ name: "guard" }] } });
    expect(await call("check_plugins", {})).toMatchObject({ structuredContent: { ok: true } });
    const denied = await call("invoke_hook", deny.params);
    expect(denied).toMatchObject({ structuredContent: { allowed: false, violation: { code: "NO_RM" } } });
    const nulls = { context: null, extensions: null, credentials: null, carried: null };
    expect(await call("invoke_hook", { ...deny.params, ...nulls })).toMatchObject({
      structuredContent: { allowed: false },
    });
    const bad = await call("invoke_hook", { ...deny.params, credentials: { inbound: [{}] } });
    expect(bad).toMatchObject({ isError: true, content: [{ text: "credentials.inbound[0].token is missing" }] });
    const fault = await call("invoke_hook", { ...deny.params, context: { tenant: "t" } });
    expect(fault).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("no member tenant") }] });
  });

  it("is served to this machine's own names and pages only", async () => {
    const { url, said } = await serve(world, ["--config", config]);
    for (const path of ["/health", "/rpc", "/mcp", "/metrics"]) {
      expect(await statusOf(`${url}${path}`, { host: "evil.test" }), path).toBe(403);
      expect(await statusOf(`${url}${path}`, { origin: "http://evil.test" }), path).toBe(403);
    }
    // Of /mcp, by its own handler: a line each, no fault of ours.
    expect(
      said()
        .filter((line) => line.includes("evil.test"))
        .map((line) => JSON.parse(line)),
    ).toEqual([
      expect.objectContaining({ level: 40, msg: expect.stringContaining("Host") }),
      expect.objectContaining({ level: 40, msg: expect.stringContaining("Origin") }),
    ]);
    expect(await statusOf(`${url}/health`, { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" })).toBe(403);
    expect(await statusOf(`${url}/health`, { origin: "http://localhost:3000" })).toBe(200);
  });

  it("refuses what is no request with a status and a sentence", async () => {
    const { url } = await serve(world, ["--config", config]);
    const faults: [status: number, answer: Promise<Response>][] = [
      [415, post(`${url}/rpc`, deny, { "content-type": "text/plain" })],
      [400, post(`${url}/rpc`, "{")],
      [405, fetch(`${url}/rpc`)],
      [404, fetch(`${url}/other`)],
      [413, post(`${url}/rpc`, " ".repeat(16 * 1024 * 1024 + 1))],
    ];
    for (const [status, answer] of faults) {
      const { status: told, headers } = await answer;
      expect([told, headers.get("content-type")]).toEqual([status, "application/json"]);
    }
    const noAnswer = await post(`${url}/rpc`, { jsonrpc: "2.0", method: "plugins/list" });
    expect([noAnswer.status, await noAnswer.text()]).toEqual([202, ""]);
  });

  it("refuses a body that is too large so that a client which is still sending it hears why", async () => {
    const { url } = await serve(world, ["--config", config]);
    const { hostname, port } = new URL(url);
    const bytes = 16 * 1024 * 1024 + 1;
    const socket = connect({ host: hostname, port: Number(port) });
    onTestFinished(() => void socket.destroy());
    // An error of the connection, such as its reset, rejects this.
    const closed = once(socket, "end");
    let said = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    socket.write(`POST /rpc HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\n`);
    socket.write(`content-length: ${bytes}\r\n\r\n${" ".repeat(1_000_000)}`);
    await once(socket, "data");
    socket.end(" ".repeat(bytes - 1_000_000));
    await closed;
    expect(said).toMatch(/^HTTP\/1\.1 413 [\s\S]*\{"error":"the body is larger than 16777216 bytes"\}\n$/u);
  });

  it("with tokens lets in who has one, by the name in it, and tells others whether plugins fail and no more", async () => {
    const file = join(world.folder, "tokens.jsonl");
    const { stdout } = await run(["token", "ada", "--file", file]);
    const { url } = await serve(world, ["--config", config, "--token-file", file]);
    const authorization = `Bearer ${stdout.trim()}`;
    expect((await post(`${url}/rpc`, deny, { ...json, authorization })).status).toBe(200);
    for (const path of ["/rpc", "/mcp"]) {
      const refused = await post(`${url}${path}`, deny);
      expect([refused.status, refused.headers.has("www-authenticate")], path).toEqual([401, true]);
    }
    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ ok: true, plugins: { guard: "ready" } });
  });

  it("serves although a plugin cannot be made ready, and says so", async () => {
    const { url }: Served = await serve(world, ["--config", broken]);
    const health = await fetch(`${url}/health`);
    expect([health.status, await health.json()]).toEqual([503, { ok: false, plugins: { lost: "failed" } }]);
    const answer: unknown = await (await post(`${url}/rpc`, deny)).json();
    expect(answer).toMatchObject({ result: { allowed: false, executions: [{ plugin: "lost", status: "failed" }] } });
  });

  it("does not serve when a plugin cannot be made ready and `fail_on_plugin_error` is set", async () => {
    const lost = entryOf("filters.Guard").replace("requirements.txt", "no.txt");
    const strict = world.config("strict.yaml", { lost }, "{ fail_on_plugin_error: true }");
    const { code, stderr } = await world.run(["serve", "--config", strict, "--http", "127.0.0.1:0"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("plugin lost could not be made ready")]);
    expect(stderr).not.toContain("listening");
  });

  it.each([
    { name: "an address that others can reach, without tokens", args: ["--http", "0.0.0.0:0"], says: "--token-file" },
    { name: "no door", args: [], says: "give one of --stdio and --http" },
    { name: "two doors", args: ["--stdio", "--http", "127.0.0.1:0"], says: "give one of" },
    { name: "tokens on standard input", args: ["--stdio", "--token-file", "x"], says: "go with --http" },
    { name: "a name that is none", args: ["--http", "127.0.0.1:0", "--allowed-host", "a b"], says: "no host name" },
  ])("refuses $name", async ({ args, says }) => {
    const { code, stderr } = await world.run(["serve", "--config", config, ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });
});

/** A call by a client of the revision that needs no session. */
async function callTool(url: string, name: string, given: object): Promise<unknown> {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const headers = {
    ...json,
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": name,
  };
  const params = { name, arguments: given, _meta: meta };
  const response = await post(url, { jsonrpc: "2.0", id: 1, method: "tools/call", params }, headers);
  const text = await response.text();
  const body: { result?: unknown; error?: unknown } = JSON.parse(/^data: (.*)$/mu.exec(text)?.[1] ?? text);
  return body.result ?? body.error;
}
