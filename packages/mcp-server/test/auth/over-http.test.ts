import { once } from "node:events";
import { request } from "node:http";
import {
  Client,
  discoverOAuthProtectedResourceMetadata,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBearerAdmitter, createJwtVerifier } from "../../src/auth.js";
import { createHttpHandler, type HttpServer, serveHttp } from "../../src/http.js";
import type { McpServer } from "../../src/index.js";
import {
  audience,
  createSigner,
  issuer,
  type KeyServer,
  keySet,
  type Signer,
  startKeyServer,
} from "../support/issuer.js";
import { sampleServer } from "../support/sample.js";

let signer: Signer;
let keys: KeyServer;
let http: HttpServer;
let mcp: McpServer<string>;
const unexpected: unknown[] = [];
const hour = { exp: Math.floor(Date.now() / 1_000) + 3_600 };
const metadataPath = "/.well-known/oauth-protected-resource";
const metadataUrl = `https://mcp.example.com${metadataPath}/mcp`;

async function admitterFor(url: string): Promise<ReturnType<typeof createBearerAdmitter<string>>> {
  const verifier = await createJwtVerifier({ issuer, audience, keys: { url }, principal: ({ sub }) => String(sub) });
  const metadata = { resource: audience, authorizationServers: [issuer] };
  return createBearerAdmitter({ verifier, requiredScopes: ["read"], metadata });
}

beforeAll(async () => {
  signer = await createSigner();
  keys = await startKeyServer(keySet(signer.jwk));
  mcp = sampleServer();
  http = await serveHttp({
    server: mcp,
    admitter: await admitterFor(keys.url),
    onUnexpectedError: (error) => void unexpected.push(error),
    logger: () => undefined,
  });
});
afterAll(async () => {
  await http.close();
  await keys[Symbol.asyncDispose]();
});

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const call = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "echo", arguments: { text: "hello" }, _meta },
};
const headers = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "echo",
};
function post(authorization: string | undefined, url = http.url, init: RequestInit = {}): Promise<Response> {
  const all = { ...headers, ...(authorization !== undefined && { authorization }) };
  return fetch(url, { method: "POST", headers: all, body: JSON.stringify(call), ...init });
}

describe("over HTTP", () => {
  it("a good token is served", async () => {
    const answer = await post(`Bearer ${await signer.sign(hour)}`);
    expect([answer.status, await answer.json()]).toMatchObject([200, { result: { content: [{ text: "hello" }] } }]);
  });

  it("no token, a bad one and a weak one get their status, their challenge and no word of what was sent", async () => {
    const weak = await signer.sign({ ...hour, scope: "write" });
    const bad = `${await signer.sign(hour)}x`;
    const where = `resource_metadata="${metadataUrl}", scope="read"`;
    for (const { authorization, status, challenge } of [
      { authorization: undefined, status: 401, challenge: `Bearer ${where}` },
      { authorization: `Bearer ${bad}`, status: 401, challenge: `Bearer error="invalid_token", ${where}` },
      { authorization: `Bearer ${weak}`, status: 403, challenge: `Bearer error="insufficient_scope", ${where}` },
    ]) {
      const answer = await post(authorization);
      const body = await answer.text();
      expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([status, challenge]);
      expect(JSON.parse(body)).toMatchObject({ jsonrpc: "2.0", error: { code: expect.any(Number) } });
      for (const token of [bad, weak])
        expect(body + JSON.stringify([...answer.headers])).not.toContain(token.slice(-20));
    }
  });

  it("every method and path of the endpoint is refused without a token, before its body is read", async () => {
    for (const method of ["GET", "DELETE", "POST"]) {
      expect([method, (await fetch(http.url, { method, headers: { accept: "text/event-stream" } })).status]).toEqual([
        method,
        401,
      ]);
    }
    expect((await post(undefined, http.url, { body: "no JSON" })).status).toBe(401);
  });

  it("a token in the query or the body counts for nothing", async () => {
    const token = await signer.sign(hour);
    expect((await post(undefined, `${http.url}?access_token=${token}`)).status).toBe(401);
    const form = { ...headers, "content-type": "application/x-www-form-urlencoded" };
    const answer = await post(undefined, http.url, { headers: form, body: `access_token=${token}` });
    expect(answer.status).toBe(401);
  });

  it("two Authorization headers are refused, whichever of them is good", async () => {
    const good = `Bearer ${await signer.sign(hour)}`;
    for (const pair of [
      [good, "Bearer x"],
      ["Bearer x", good],
      [good, good],
    ]) {
      const status = await new Promise((resolve, reject) => {
        const flat = Object.entries(headers).flat();
        const lines = [...flat, ...pair.flatMap((value) => ["Authorization", value]), "Host", `127.0.0.1:${http.port}`];
        const sent = request(http.url, { method: "POST", headers: lines }, (response) => {
          response.resume().on("end", () => resolve(response.statusCode));
        });
        sent.on("error", reject).end(JSON.stringify(call));
      });
      expect(status).toBe(400);
    }
    const web = createHttpHandler({ server: mcp, admitter: await admitterFor(keys.url) });
    const several = new Headers({ ...headers, host: "localhost", authorization: good });
    several.append("authorization", good);
    const given = { method: "POST", headers: several, body: JSON.stringify(call) };
    expect((await web.fetch(new Request("http://localhost/mcp", given))).status).toBe(400);
    await web.close();
  });

  it("the metadata is there for anybody, at both places", async () => {
    for (const path of [metadataPath, `${metadataPath}/mcp`]) {
      const answer = await fetch(new URL(path, http.url));
      expect([answer.status, answer.headers.get("content-type"), await answer.json()]).toEqual([
        200,
        "application/json",
        {
          resource: audience,
          authorization_servers: [issuer],
          bearer_methods_supported: ["header"],
          scopes_supported: ["read"],
        },
      ]);
    }
    expect((await fetch(new URL(`${metadataPath}/other`, http.url))).status).toBe(404);
  });

  it("an issuer that cannot be reached is 503 with a time to come back", async () => {
    const down = await startKeyServer((_, response) => void response.writeHead(500).end());
    const server = await serveHttp({ server: mcp, admitter: await admitterFor(down.url) });
    const answer = await post(`Bearer ${await signer.sign(hour)}`, server.url);
    expect([answer.status, answer.headers.get("retry-after"), answer.headers.get("www-authenticate")]).toEqual([
      503,
      "5",
      null,
    ]);
    await server.close();
    await down[Symbol.asyncDispose]();
  });

  it("a client that leaves while it is being looked for is no fault of anybody, and the next one is served", async () => {
    let answer: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      keys.answer = (request, response) => {
        answer = () => keySet(signer.jwk)(request, response);
        resolve();
      };
    });
    const faults: unknown[] = [];
    const onUnexpectedError = (error: unknown): void => void faults.push(error);
    const inner = await admitterFor(keys.url);
    const signals: AbortSignal[] = [];
    const admitter: typeof inner = {
      admit(head, signal) {
        signals.push(signal);
        return inner.admit(head, signal);
      },
    };
    const server = await serveHttp({ server: mcp, admitter, onUnexpectedError });
    const client = new AbortController();
    const authorization = `Bearer ${await signer.sign(hour)}`;
    const leaves = post(authorization, server.url, { signal: client.signal });
    await asked;
    client.abort();
    await expect(leaves).rejects.toThrow();
    const [signal] = signals;
    if (signal?.aborted === false) await once(signal, "abort");
    const stays = post(authorization, server.url);
    answer();
    expect((await stays).status).toBe(200);
    await server.close();
    expect(faults).toEqual([]);
    keys.answer = keySet(signer.jwk);
  });

  it("the official SDK's client is let in with a token, and finds the metadata without", async () => {
    const requestInit = { headers: { authorization: `Bearer ${await signer.sign(hour)}` } };
    const client = new Client({ name: "sdk", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(http.url), { requestInit }));
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    await client.close();
    const stranger = new Client({ name: "sdk", version: "1.0.0" });
    await expect(stranger.connect(new StreamableHTTPClientTransport(new URL(http.url)))).rejects.toThrow(
      "A bearer token is needed",
    );
    const found = await discoverOAuthProtectedResourceMetadata(http.url);
    expect(found).toMatchObject({ resource: audience, authorization_servers: [issuer] });
  });

  it("nothing of all that was a fault of the server", () => {
    expect(unexpected).toEqual([]);
  });
});
