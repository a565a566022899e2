// The contract in short, on every Node that the package promises to run on.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  compareDefinitions,
  createRelaySession,
  describeDefinitionChange,
  exposedName,
  inspectServer,
  readDefinition,
} from "@berth/mcp-relay";
import { listedEnvironment, openChild } from "@berth/stdio-transport";
import { createMemoryPair } from "@berth/stdio-transport/memory";

const openUpstream = async (name, { signal } = {}) => {
  const path = fileURLToPath(new URL(`../../../fixtures/servers/${name}.mjs`, import.meta.url));
  const child = await openChild({ file: process.execPath, args: [path], env: listedEnvironment(process.env), signal });
  const { transport, exited } = child;
  return { transport, exited, evidence: { evidence: "spawn-measured" }, close: () => child.close() };
};

/** A client at one end of a pair. */
function createClient(transport) {
  const waiting = new Map();
  let lastId = 0;
  transport.start({
    onFrame({ bytes }) {
      const message = JSON.parse(Buffer.from(bytes).toString());
      waiting.get(message.id)?.(message);
    },
    onFault: assert.ifError,
    onClose() {},
  });
  return (method, params) =>
    new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve);
      transport.send(Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params })));
    });
}

test("two real servers are listed and called under their names, and a changed tool is refused", async () => {
  const echo = await inspectServer(await openUpstream("echo"), {
    server: "echo",
    clientInfo: { name: "smoke", version: "1" },
  });
  const pinned = Object.fromEntries(echo.tools.map(({ name, digest, definition }) => [name, { digest, definition }]));
  pinned.add = { digest: "sha256:00", definition: '{"name":"add"}' };
  const [near, far] = createMemoryPair();
  const events = [];
  const session = createRelaySession({
    downstream: near,
    servers: [{ name: "echo", tools: { pinned } }, { name: "paged-list" }],
    serverInfo: { name: "smoke", version: "1" },
    openUpstream,
    record: (event) => void events.push(event.type),
  });
  try {
    const request = createClient(far);
    await request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "c", version: "1" },
    });
    const { result } = await request("tools/list");
    assert.equal(result.tools.length, 10);
    assert.equal(result.tools[0].name, exposedName("echo", "echo", "prefixed"));
    const answer = await request("tools/call", { name: "echo__echo", arguments: { text: "grüße" } });
    assert.equal(answer.result.content[0].text, "grüße");
    const refused = await request("tools/call", { name: "echo__add", arguments: { a: 1, b: 2 } });
    assert.deepEqual([refused.error.code, refused.error.data.reason], [-31101, "TOOL_CHANGED"]);
  } finally {
    await session.close();
  }
  assert.deepEqual(events, ["drift", "call.intent", "call.outcome", "call.refused", "child.exit", "child.exit"]);
});

test("definitions are compared whole, and the difference is told", () => {
  const [before, after] = ["reads", "reads and sends"].map((description) =>
    readDefinition(JSON.stringify({ name: "a", description }), "name"),
  );
  const pins = { a: { digest: before.digest, definition: before.definition } };
  assert.deepEqual(compareDefinitions(pins, [before], "name"), []);
  assert.equal(compareDefinitions(pins, [after], "name")[0].change, "changed");
  assert.match(describeDefinitionChange(before.definition, after.definition).join("\n"), /~ description/);
});
