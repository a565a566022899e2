import { describe, expect, it } from "vitest";
import type { OriginRules } from "../../src/http.js";
import { call, codeOf, frontEnds, modern, type Options, post, type Sent, withHeaders } from "../support/http.js";
import { sampleServer } from "../support/sample.js";

const ping = { jsonrpc: "2.0", id: 7, method: "ping" };
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};
const echo = call("echo", { text: "hi" });
/** Of a request that is right but for one thing. */
const rows: readonly {
  readonly name: string;
  readonly sent: Sent;
  readonly status: number;
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
}[] = [
  { name: "a right request", sent: echo, status: 200, headers: { vary: "Origin" } },
  { name: "a query", sent: { ...echo, path: "/mcp?x=1" }, status: 200 },
  { name: "a Host of this machine by name", sent: withHeaders(echo, { host: "localhost:1234" }), status: 200 },
  { name: "a Host of this machine in IPv6", sent: withHeaders(echo, { host: "[::1]:1234" }), status: 200 },
  { name: "a Host in capitals", sent: withHeaders(echo, { host: "LocalHost" }), status: 200 },
  { name: "a foreign Host alone", sent: withHeaders(echo, { host: "evil.example" }), status: 403, code: -32600 },
  {
    name: "a Host that begins as one of ours",
    sent: withHeaders(echo, { host: "localhost.evil.example" }),
    status: 403,
  },
  { name: "a Host with a user", sent: withHeaders(echo, { host: "localhost@evil.example" }), status: 403 },
  {
    name: "a foreign Origin alone",
    sent: withHeaders(echo, { origin: "http://evil.example" }),
    status: 403,
    code: -32600,
  },
  {
    name: "an Origin that begins as ours",
    sent: withHeaders(echo, { origin: "http://localhost.evil.example" }),
    status: 403,
  },
  { name: "the Origin null", sent: withHeaders(echo, { origin: "null" }), status: 403 },
  { name: "two Origins", sent: withHeaders(echo, { origin: "http://localhost, http://localhost" }), status: 403 },
  { name: "an Origin of another scheme", sent: withHeaders(echo, { origin: "file://localhost" }), status: 403 },
  {
    name: "an Origin of this machine",
    sent: withHeaders(echo, { origin: "http://localhost:5173" }),
    status: 200,
    headers: { "access-control-allow-origin": "http://localhost:5173", vary: "Origin" },
  },
  { name: "a foreign Origin on GET", sent: { method: "GET", headers: { origin: "http://evil.example" } }, status: 403 },
  {
    name: "a foreign Origin on DELETE",
    sent: { method: "DELETE", headers: { origin: "http://evil.example" } },
    status: 403,
  },
  {
    name: "a foreign Origin on OPTIONS",
    sent: { method: "OPTIONS", headers: { origin: "http://evil.example" } },
    status: 403,
  },
  {
    name: "a foreign Host on another path",
    sent: { method: "GET", path: "/x", headers: { host: "evil.example" } },
    status: 403,
  },
  { name: "another path", sent: { ...echo, path: "/mcp/" }, status: 404, code: -32600 },
  {
    name: "another HTTP method",
    sent: { method: "PUT", body: "{}" },
    status: 405,
    headers: { allow: "POST, GET, DELETE" },
  },
  { name: "text/plain", sent: withHeaders(echo, { "content-type": "text/plain" }), status: 415, code: -32600 },
  {
    name: "no content type",
    sent: withHeaders({ ...echo, body: Buffer.from(String(echo.body)) }, { "content-type": undefined }),
    status: 415,
  },
  { name: "a type that begins as JSON", sent: withHeaders(echo, { "content-type": "application/jsonp" }), status: 415 },
  {
    name: "JSON in UTF-8",
    sent: withHeaders(echo, { "content-type": 'Application/JSON; charset="UTF-8"' }),
    status: 200,
  },
  {
    name: "JSON in Latin-1",
    sent: withHeaders(echo, { "content-type": "application/json; charset=latin1" }),
    status: 415,
  },
  { name: "a compressed body", sent: withHeaders(echo, { "content-encoding": "gzip" }), status: 415 },
  { name: "Accept of something else", sent: withHeaders(echo, { accept: "text/html" }), status: 406, code: -32600 },
  { name: "Accept that excludes both", sent: withHeaders(echo, { accept: "*/*;q=0" }), status: 406 },
  { name: "Accept of JSON alone", sent: withHeaders(echo, { accept: "application/json" }), status: 200 },
  { name: "Accept of everything", sent: withHeaders(echo, { accept: "*/*" }), status: 200 },
  { name: "no Accept", sent: withHeaders(echo, { accept: undefined }), status: 200 },
  { name: "legacy, Accept of JSON alone", sent: post(initialize, { accept: "application/json" }), status: 406 },
  { name: "legacy, Accept of streams alone", sent: post(initialize, { accept: "text/event-stream" }), status: 406 },
  {
    name: "legacy, Accept of everything",
    sent: post(initialize, { accept: "application/*, text/*;q=0.1" }),
    status: 200,
  },
  { name: "GET that accepts no stream", sent: { method: "GET", headers: { accept: "application/json" } }, status: 406 },
  {
    name: "listening that accepts no stream",
    sent: modern("subscriptions/listen", { notifications: {} }, { headers: { accept: "application/json" } }),
    status: 406,
  },
  { name: "no JSON", sent: { ...echo, body: "{" }, status: 400, code: -32700 },
  { name: "an empty body", sent: { ...echo, body: "" }, status: 400, code: -32700 },
  {
    name: "bytes that are no UTF-8",
    sent: { ...echo, body: Uint8Array.of(0x22, 0xff, 0x22) },
    status: 400,
    code: -32700,
  },
  { name: "a batch", sent: { ...echo, body: `[${echo.body}]` }, status: 400, code: -32600 },
  {
    name: "an id over 1,024 characters",
    sent: { ...echo, body: JSON.stringify({ jsonrpc: "2.0", id: "i".repeat(1_025), method: "ping" }) },
    status: 400,
    code: -32600,
  },
  { name: "an empty batch", sent: { ...echo, body: "[]" }, status: 400, code: -32600 },
  { name: "no message", sent: { ...echo, body: "{}" }, status: 400, code: -32600 },
  {
    name: "a doubled key",
    sent: { ...echo, body: String(echo.body).replace('"id":1', '"id":1,"id":2') },
    status: 400,
    code: -32600,
  },
  {
    name: "params in an array",
    sent: post({ jsonrpc: "2.0", id: 1, method: "ping", params: [] }),
    status: 400,
    code: -32602,
  },
  { name: "an unknown session", sent: post(ping, { "mcp-session-id": "x" }), status: 404 },
  { name: "no session", sent: post(ping), status: 400 },
];

describe.each(frontEnds)("over $name", ({ start }) => {
  const options: Options = { server: sampleServer(), principal: "ada" };

  it.each(rows)("$name is answered with $status", async ({ sent, status, code, headers }) => {
    await using front = await start(options);
    const answer = await front.send(sent);
    expect([answer.status, answer.text]).toEqual([status, expect.not.stringMatching(/<|node:|\.ts|\.js:/)]);
    if (code !== undefined) expect(codeOf(answer)).toBe(code);
    for (const [name, value] of Object.entries(headers ?? {})) expect(answer.headers.get(name)).toBe(value);
    // The next one is served.
    expect((await front.send(echo)).status).toBe(200);
  });

  it("a refusal names the request where it could be read, and has no id otherwise", async () => {
    await using front = await start(options);
    const doubled = await front.send(post(ping, { "mcp-protocol-version": "2026-07-28" }));
    expect(doubled.json).toMatchObject({ id: 7, error: { code: -32602 } });
    expect((await front.send({ ...echo, body: "{" })).json).not.toHaveProperty("id");
  });

  it("a page of an allowed origin may send what clients send, and read what they read", async () => {
    await using front = await start(options);
    const asked = "content-type, mcp-method, Mcp-Param-Region, x-other";
    const headers = {
      origin: "http://127.0.0.1:80",
      "access-control-request-method": "POST",
      "access-control-request-headers": asked,
    };
    const answer = await front.send({ method: "OPTIONS", headers });
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(answer.headers.get("access-control-allow-origin")).toBe("http://127.0.0.1:80");
    const allowed = answer.headers.get("access-control-allow-headers")?.split(", ");
    for (const name of ["authorization", "mcp-session-id", "last-event-id", "mcp-name", "mcp-param-region"])
      expect(allowed).toContain(name);
    expect(allowed).not.toContain("x-other");
    expect(answer.headers.get("access-control-allow-methods")).toBe("POST, GET, DELETE");
    const refusal = await front.send(withHeaders({ ...echo, body: "{" }, { origin: "http://localhost" }));
    expect(refusal.headers.get("access-control-expose-headers")).toBe("Mcp-Session-Id, WWW-Authenticate");
  });

  it("named hosts and origins replace the names of this machine, and an empty list allows nobody", async () => {
    const status = async (rules: OriginRules, headers: Record<string, string>): Promise<number> => {
      await using front = await start({ ...options, ...rules });
      return (await front.send(withHeaders(echo, headers))).status;
    };
    const allowedHosts = ["mcp.example.com", "other.example.com:8443"];
    expect(await status({ allowedHosts }, { host: "mcp.example.com" })).toBe(200);
    expect(await status({ allowedHosts }, { host: "mcp.example.com:9000" })).toBe(200);
    expect(await status({ allowedHosts }, { host: "other.example.com:8443" })).toBe(200);
    expect(await status({ allowedHosts }, { host: "other.example.com:8444" })).toBe(403);
    expect(await status({ allowedHosts }, { host: "localhost" })).toBe(403);
    expect(await status({ allowedHosts }, { host: "mcp.example.com", origin: "http://localhost" })).toBe(403);
    expect(await status({ allowedHosts: [] }, { host: "localhost" })).toBe(403);
    const allowedOrigins = ["https://app.example.com"];
    expect(await status({ allowedOrigins }, { host: "localhost", origin: "https://app.example.com" })).toBe(200);
    expect(await status({ allowedOrigins }, { host: "localhost", origin: "http://app.example.com" })).toBe(403);
    expect(await status({ allowedOrigins: [] }, { host: "localhost", origin: "http://localhost" })).toBe(403);
    const anyPort = { allowedOrigins: ["http://app.example.com:*", "http://[::1]:*"] };
    const origins = { "http://app.example.com": 200, "http://app.example.com:81": 200, "http://[::1]:5173": 200 };
    const others = {
      "https://app.example.com": 403,
      "http://app.example.com:81/": 403,
      "http://app.example.com:*": 403,
    };
    for (const [origin, wanted] of Object.entries({
      ...origins,
      ...others,
      "http://x@app.example.com": 403,
      null: 403,
    })) {
      expect([origin, await status(anyPort, { host: "localhost", origin })]).toEqual([origin, wanted]);
    }
  });

  it("without revisions that open with initialize, GET and DELETE are 405 and everything else is of 2026-07-28", async () => {
    const revisions = { legacy: [], modern: ["2026-07-28"] } as const;
    await using front = await start({ ...options, server: sampleServer({ revisions }) });
    for (const method of ["GET", "DELETE"]) {
      const answer = await front.send({ method, headers: { accept: "text/event-stream" } });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"]);
    }
    const opened = await front.send(post(initialize));
    expect([opened.status, codeOf(opened)]).toEqual([400, -32602]);
    expect(opened.text).toContain("2026-07-28");
    expect((await front.send(post({ jsonrpc: "2.0", id: 1, result: {} }))).status).toBe(400);
    expect((await front.send(post({ jsonrpc: "2.0", method: "notifications/initialized" }))).status).toBe(400);
  });

  it("without 2026-07-28 its requests are told which revisions there are", async () => {
    const revisions = { legacy: ["2025-11-25"], modern: [] } as const;
    await using front = await start({ ...options, server: sampleServer({ revisions }) });
    const answer = await front.send(echo);
    expect([answer.status, codeOf(answer)]).toEqual([400, -32022]);
    const probe = await front.send(modern("server/discover"));
    expect([probe.status, codeOf(probe)]).toEqual([404, -32601]);
  });
});

describe.each(frontEnds)("a refused Host or Origin over $name", ({ start }) => {
  it("is told to the operator the first time, escaped and cut", async () => {
    const told: string[] = [];
    const logger = (text: string): void => void told.push(text);
    await using front = await start({ server: sampleServer(), principal: "ada", logger });
    const long = "x".repeat(300);
    const evil = 'http://evil.example/"[2J\u009b\u00ff';
    for (const host of [`${long}.example`, "other.example"]) {
      expect((await front.send(withHeaders(echo, { host }))).status).toBe(403);
    }
    for (const origin of [evil, "http://other.example"]) {
      expect((await front.send(withHeaders(echo, { origin }))).status).toBe(403);
    }
    expect(told).toEqual([
      `refused Host "${"x".repeat(100)}...": allowedHosts says which are served (told once)`,
      // One byte or two for each character, as the client encodes it.
      expect.stringMatching(
        /^refused Origin "http:\/\/evil\.example\/\\"\[2J(?:\\u00[0-9a-f]{2}){2,4}": allowedOrigins says/,
      ),
    ]);
  });

  it("is refused also when the operator cannot be told", async () => {
    const logger = (): never => {
      throw new Error("the log is full");
    };
    await using front = await start({ server: sampleServer(), principal: "ada", logger });
    expect((await front.send(withHeaders(echo, { host: "evil.example" }))).status).toBe(403);
  });
});
