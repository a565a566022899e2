// The contract in short, on every Node that the package promises to run on.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createMcpServer,
  decideEra,
  EraError,
  isEraError,
  legacyRevisions,
  mcpErrors,
  modernRevisions,
  negotiateRevision,
} from "@berth/mcp-server";

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
