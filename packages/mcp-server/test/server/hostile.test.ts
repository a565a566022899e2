import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { openClient } from "../support/client.js";
import { notes } from "../support/notes.js";
import { sampleServer } from "../support/sample.js";

const runs = scaledCount("hostile sequences", 20_000);
const methods = [
  "initialize",
  "ping",
  "tools/list",
  "tools/call",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "completion/complete",
  "logging/setLevel",
  "server/discover",
  "notifications/cancelled",
  "notifications/initialized",
  "__proto__",
];
const names = ["echo", "sum", "greet", "secret", "constructor", "__proto__", "note:///1", "note:///by/{author}"];
const value = fc.oneof(
  fc.constantFrom<unknown>(...names, "info", "2025-06-18", "2026-07-28", { type: "ref/prompt", name: "greet" }, {}),
  fc.jsonValue({ maxDepth: 3 }),
);
const meta = fc.constantFrom<unknown>(
  undefined,
  { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} },
  { "io.modelcontextprotocol/protocolVersion": "2099-01-01" },
  { "io.modelcontextprotocol/protocolVersion": 3 },
  7,
);
const params = fc.record(
  {
    _meta: meta,
    name: value,
    uri: value,
    arguments: value,
    argument: value,
    ref: value,
    cursor: value,
    level: value,
    requestId: value,
    protocolVersion: value,
    capabilities: value,
    requestState: value,
    inputResponses: value,
  },
  { requiredKeys: [] },
);
const message = fc.oneof(
  fc.record(
    {
      jsonrpc: fc.constantFrom("2.0", "1.0"),
      id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
      method: fc.constantFrom(...methods),
      params: fc.oneof({ weight: 9, arbitrary: params }, { weight: 1, arbitrary: fc.jsonValue() }),
    },
    { requiredKeys: ["jsonrpc", "method"] },
  ),
  fc.jsonValue(),
);

/** Whether it is a notification, or an answer to a question (JSON-RPC 2.0 §§ 4.1, 5). */
function wantsNoAnswer(sent: unknown): boolean {
  const { jsonrpc, id, method, params: given, result, error } = Object(sent);
  if (jsonrpc !== "2.0") return false;
  if (method === undefined) return id !== undefined && (result === undefined) !== (error === undefined);
  const hasParams = given === undefined || (typeof given === "object" && given !== null);
  return typeof method === "string" && id === undefined && hasParams;
}

describe("whatever a client sends", () => {
  it(`is answered exactly when it is a request, and never makes handle reject (${runs} sequences)`, async () => {
    const server = sampleServer(notes);
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 6 }), async (messages) => {
        const { connection } = openClient(server);
        for (const sent of messages) {
          const text = JSON.stringify(sent) ?? "null";
          const answer = await server.handle(JSON.parse(text), { principal: "ada", connection });
          expect(answer === undefined).toBe(wantsNoAnswer(JSON.parse(text)));
          if (answer !== undefined) {
            const { id } = Object(JSON.parse(text));
            expect(answer.jsonrpc).toBe("2.0");
            expect("result" in answer !== "error" in answer).toBe(true);
            if ("error" in answer) expect(Number.isInteger(answer.error.code)).toBe(true);
            else expect(answer.id).toEqual(id);
            expect(JSON.stringify(answer)).not.toContain("gold");
          }
        }
        await connection.close();
      }),
      { numRuns: runs },
    );
  });

  it("leaves nothing behind when 10,000 clients come and go with work under way", async () => {
    const server = sampleServer(notes);
    const ended: Promise<unknown>[] = [];
    const clients = Array.from({ length: 10_000 }, () => openClient(server));
    for (const client of clients) {
      await client.initialize();
      await client.ask("resources/subscribe", { uri: "note:///1" });
      ended.push(client.ask("tools/call", { name: "waits" }));
      ended.push(client.askModern("subscriptions/listen", { notifications: { toolsListChanged: true } }));
    }
    await new Promise(setImmediate);
    for (const client of clients) await client.connection.close();
    expect(new Set(await Promise.all(ended))).toEqual(new Set([undefined]));
    for (const client of clients) client.sent.length = 0;
    server.listChanged("tools");
    server.resourceUpdated("note:///1");
    expect(clients.every(({ sent }) => sent.length === 0)).toBe(true);
    await expect(clients[0]?.ask("ping")).rejects.toThrow("closed");
  });

  it("cannot reach what is inherited: names of Object.prototype are unknown names", async () => {
    const client = openClient(sampleServer(notes));
    for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
      expect(await client.askModern("tools/call", { name })).toHaveProperty("error");
      expect(await client.askModern("prompts/get", { name })).toHaveProperty("error");
      const params = { ref: { type: "ref/resource", uri: "note:///by/{author}" }, argument: { name, value: "" } };
      expect(await client.askModern("completion/complete", params)).toHaveProperty("error");
    }
  });
});
