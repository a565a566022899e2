// The contract in short, on every Node that the package promises to run on.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createMcpServer } from "@berth/mcp-server";
import { createBearerAdmitter, createJwtVerifier, createToken, firstOf, openTokenFile } from "@berth/mcp-server/auth";
import { eventStoreContract, taskStoreContract } from "@berth/mcp-server/contracts";
import { createHttpHandler, createMemoryEventStore, serveHttp } from "@berth/mcp-server/http";
import {
  decideEra,
  EraError,
  isEraError,
  legacyRevisions,
  mcpErrors,
  modernRevisions,
  negotiateRevision,
} from "@berth/mcp-server/protocol";
import { createMemoryTaskStore } from "@berth/mcp-server/tasks";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

test("revisions are negotiated: the one asked for, else the newest that opens with initialize", () => {
  for (const revision of legacyRevisions) assert.equal(negotiateRevision(revision), revision);
  assert.equal(negotiateRevision(modernRevisions[0]), "2025-11-25");
  assert.equal(negotiateRevision(undefined), "2025-11-25");
});

test("the era of a request is decided from the request", () => {
  const served = { legacy: legacyRevisions, modern: modernRevisions };
  const question = { method: "tools/call", metaVersion: "2026-07-28", hasClientCapabilities: true, initialized: false };
  assert.deepEqual(decideEra(question, served), { era: "modern", revision: "2026-07-28" });
  assert.deepEqual(decideEra({ method: "initialize", initialized: false }, served), { era: "legacy" });
  assert.throws(
    () => decideEra({ ...question, metaVersion: "2099-01-01" }, served),
    (error) =>
      error instanceof EraError && isEraError(error) && error.wire.code === mcpErrors.unsupportedProtocolVersion,
  );
});

test("a server answers a call in the stateless era, and nobody may use anything by default", async () => {
  const tools = [
    {
      name: "echo",
      description: "says it again",
      inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      permission: "use",
      handler: ({ arguments: given }) => given.text,
    },
  ];
  const ask = (server) => {
    const connection = server.openConnection({ send: () => undefined });
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const params = { name: "echo", arguments: { text: "hi" }, _meta };
    return server.handle({ jsonrpc: "2.0", id: 1, method: "tools/call", params }, { principal: "me", connection });
  };
  const identity = { name: "smoke", version: "1.0.0" };
  const answer = await ask(createMcpServer({ identity, tools, authorize: () => true }));
  assert.deepEqual(answer.result.content, [{ type: "text", text: "hi" }]);
  assert.equal((await ask(createMcpServer({ identity, tools }))).error.code, -32602);
  assert.throws(() => createMcpServer({ identity, tools: [...tools, ...tools] }), { code: "REGISTRATION_INVALID" });
});

test("the contracts of stores hold for the stores in memory, and refuse one that is broken", async () => {
  const checks = [
    ...taskStoreContract(() => ({ store: createMemoryTaskStore() })),
    ...eventStoreContract(() => ({ store: createMemoryEventStore() })),
  ];
  for (const { run } of checks) await run();
  const broken = { ...createMemoryTaskStore(), update: async () => true };
  const [refused] = taskStoreContract(() => ({ store: broken })).filter(({ name }) =>
    name.includes("not there, and makes"),
  );
  await assert.rejects(refused.run(), {
    code: "ERR_ASSERTION",
    message: /^wanted: there is nothing to replace: false\nseen: true\n/m,
  });
});

test("a call becomes a task, asks, and is completed; the server's close ends what still runs", async () => {
  const store = createMemoryTaskStore();
  const tool = (name, handler) => ({
    name,
    description: name,
    inputSchema: { type: "object" },
    permission: "use",
    task: "required",
    handler,
  });
  const forever = ({ signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const asks = async ({ requestInput }) => {
    const { root } = await requestInput({ root: { method: "roots/list" } });
    return `${root.roots.length} roots`;
  };
  const server = createMcpServer({
    identity: { name: "smoke", version: "1.0.0" },
    tools: [tool("asks", asks), tool("forever", forever)],
    authorize: () => true,
    tasks: { store },
  });
  const connection = server.openConnection({ send: () => undefined });
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { roots: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
  };
  const ask = async (method, params) => {
    const message = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } };
    return (await server.handle(message, { principal: "me", connection })).result;
  };
  const until = async (taskId, status) => {
    for (;;) {
      const task = await ask("tasks/get", { taskId });
      if (task.status === status) return task;
      await new Promise(setImmediate);
    }
  };
  const { taskId } = await ask("tools/call", { name: "asks" });
  await until(taskId, "input_required");
  await ask("tasks/update", { taskId, inputResponses: { root: { roots: [] } } });
  assert.equal((await until(taskId, "completed")).result.content[0].text, "0 roots");
  const running = await ask("tools/call", { name: "forever" });
  await server.close();
  assert.equal((await store.read(running.taskId)).status, "failed");
});

test("a bearer token of a file, or a JWT, says who sent a request", async () => {
  const folder = await mkdtemp(join(tmpdir(), "berth-smoke-"));
  const { token, line } = createToken({ name: "ada", expiresAt: "never" });
  await writeFile(join(folder, "tokens.jsonl"), line, { mode: 0o600 });
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  await writeFile(join(folder, "jwks.json"), JSON.stringify({ keys: [await exportJWK(publicKey)] }), { mode: 0o600 });
  const claims = { iss: "https://login.example.com", aud: "https://mcp.example.com/mcp", sub: "eve" };
  const jwt = await new SignJWT(claims).setProtectedHeader({ alg: "ES256" }).setExpirationTime("1h").sign(privateKey);
  const verifier = firstOf(
    await openTokenFile({ path: join(folder, "tokens.jsonl"), principal: ({ name }) => name }),
    await createJwtVerifier({
      issuer: claims.iss,
      audience: claims.aud,
      keys: { file: join(folder, "jwks.json") },
      principal: ({ sub }) => sub,
    }),
  );
  const { admit } = createBearerAdmitter({ verifier });
  const ask = (given) =>
    admit({ method: "POST", path: "/mcp", header: () => `Bearer ${given}` }, new AbortController().signal);
  assert.deepEqual(await ask(token), { principal: "ada" });
  assert.deepEqual(await ask(jwt), { principal: "eve" });
  assert.equal((await ask(`${jwt}x`)).status, 401);
  await rm(folder, { recursive: true });
});

test("a call makes its round over HTTP, on Node's own requests and on web-standard ones", async () => {
  const server = createMcpServer({
    identity: { name: "smoke", version: "1.0.0" },
    authorize: () => true,
    tools: [
      {
        name: "count",
        description: "tells its steps",
        inputSchema: { type: "object" },
        permission: "use",
        handler: ({ progress }) => {
          progress(1, 2);
          return "counted";
        },
      },
    ],
  });
  const _meta = {
    progressToken: 1,
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const request = {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "count",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "count", arguments: {}, _meta },
    }),
  };
  const check = async (answer) => {
    assert.equal(answer.headers.get("content-type"), "text/event-stream");
    const [progress, result] = (await answer.text())
      .trim()
      .split("\n\n")
      .map((event) => JSON.parse(event.slice(6)));
    assert.equal(progress.method, "notifications/progress");
    assert.deepEqual(result.result.content, [{ type: "text", text: "counted" }]);
  };
  const http = await serveHttp({ server, principal: "me" });
  await check(await fetch(http.url, request));
  assert.equal(
    (await fetch(http.url, { ...request, headers: { ...request.headers, origin: "http://evil.example" } })).status,
    403,
  );
  await http.close();
  const handler = createHttpHandler({ server, principal: "me" });
  await check(await handler.fetch(new Request("http://localhost/mcp", request)));
  await handler.close();
});
