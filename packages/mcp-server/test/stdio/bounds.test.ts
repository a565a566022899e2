import { describe, expect, it } from "vitest";
import { createMcpServer, defineTool, type McpServer } from "../../src/index.js";
import { until } from "../support/held.js";
import { pipe, request, toolCall } from "../support/piped.js";
import { sampleServer } from "../support/sample.js";

const nothing = { type: "object" } as const;

/** A server whose calls of "gate" end when they are let go; `entered` counts those under way. */
function gatedServer(): { server: McpServer<string>; entered: () => number; letGo: (count?: number) => void } {
  const gates: (() => void)[] = [];
  const server = createMcpServer<string>({
    identity: { name: "gated", version: "1" },
    authorize: () => true,
    tools: [
      defineTool<string, typeof nothing>({
        name: "gate",
        description: "waits",
        inputSchema: nothing,
        permission: "use",
        handler: () => new Promise((resolve) => gates.push(() => resolve("through"))),
      }),
      defineTool<string, typeof nothing>({
        name: "large",
        description: "answers much",
        inputSchema: nothing,
        permission: "use",
        handler: () => "x".repeat(100_000),
      }),
    ],
  });
  return {
    server,
    entered: () => gates.length,
    letGo: (count = gates.length) => {
      for (const go of gates.splice(0, count)) go();
    },
  };
}

describe("what a stdio server reads", () => {
  it("answers each line, whatever its end, and skips empty ones", async () => {
    const served = pipe(sampleServer());
    served.input.write(`\r\n\n${JSON.stringify(toolCall("a", "sum"))}\r\n`);
    expect(await served.written(1)).toMatchObject([{ id: "a", result: { structuredContent: { n: 3 } } }]);
  });

  it.each([
    { name: "no JSON", line: "hello", code: -32700 },
    { name: "half of a message", line: '{"jsonrpc":"2.0"', code: -32700 },
    { name: "a batch", line: "[]", code: -32600 },
    { name: "a key twice", line: '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', code: -32600 },
    { name: "an id that is null", line: '{"jsonrpc":"2.0","id":null,"method":"ping"}', code: -32600 },
    {
      name: "params that are an array",
      line: '{"jsonrpc":"2.0","id":5,"method":"ping","params":[]}',
      code: -32602,
      id: 5,
    },
    {
      name: "nesting without end",
      line: `{"jsonrpc":"2.0","id":6,"method":"ping","params":${'{"a":'.repeat(200)}1${"}".repeat(201)}`,
      code: -32600,
      id: 6,
    },
  ])("refuses $name and goes on", async ({ line, code, id }) => {
    const served = pipe(sampleServer());
    served.input.write(`${line}\n${JSON.stringify(toolCall(7, "sum"))}\n`);
    const [refusal, answer] = await served.written(2);
    expect(refusal).toMatchObject({ jsonrpc: "2.0", error: { code } });
    expect(refusal?.["id"]).toBe(id ?? null);
    expect(answer).toMatchObject({ id: 7 });
  });

  it("refuses bytes that are no UTF-8", async () => {
    const served = pipe(sampleServer());
    served.input.write(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d, 0x0a]));
    expect(await served.written(1)).toMatchObject([{ error: { code: -32700 } }]);
  });

  it("takes a message at the limit, and refuses one over it by its id, wherever the id stands", async () => {
    const maxFrameBytes = 2_048;
    const served = pipe(sampleServer(), { limits: { maxFrameBytes } });
    const of = (bytes: number, id: number): string => {
      const empty = JSON.stringify(toolCall(id, "echo", { text: "" })).length;
      return `${JSON.stringify(toolCall(id, "echo", { text: "x".repeat(bytes - empty) }))}\n`;
    };
    const idLast = `{"params":{"a":"${"x".repeat(maxFrameBytes)}"},"method":"ping","jsonrpc":"2.0","id":4}\n`;
    served.input.write(of(maxFrameBytes, 1) + of(maxFrameBytes + 1, 2) + of(maxFrameBytes - 1, 3) + idLast);
    const lines = await served.written(4);
    const tooLarge = { code: -32600, message: "the message is too large", data: { limit: maxFrameBytes } };
    const byId = Object.fromEntries(lines.map((line) => [String(line["id"]), line["error"]]));
    expect(byId).toEqual({ 1: undefined, 2: tooLarge, 3: undefined, 4: tooLarge });
  });

  it("stops after 16 lines in a row that are no messages; a good one starts the count again", async () => {
    const served = pipe(sampleServer());
    served.input.write(`${"x\n".repeat(15)}${JSON.stringify(toolCall(1, "sum"))}\n${"x\n".repeat(15)}`);
    await served.written(31);
    served.input.write("x\n");
    expect(await served.ended).toEqual({ code: 1 });
    expect(served.logged).toEqual(["16 lines in a row were no messages"]);
    expect(served.lines.filter((line) => "error" in line)).toHaveLength(31);
  });
});

describe("what a stdio server works on", () => {
  it("takes notifications and answers that come after the server was closed, and says so to a request", async () => {
    const server = sampleServer();
    const served = pipe(server, { onUnexpectedError: "continue" });
    served.send(toolCall(1, "sum"));
    await served.written(1);
    await server.close();
    served.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    served.send({ jsonrpc: "2.0", id: 1, result: {} }, toolCall(2, "sum"));
    expect((await served.written(2)).at(-1)).toMatchObject({ id: 2, error: { code: -32603 } });
  });

  it("works on 64 requests at a time; notifications and listening do not wait", async () => {
    const { server, entered, letGo } = gatedServer();
    const served = pipe(server);
    served.send(...Array.from({ length: 100 }, (_, id) => toolCall(id, "gate")));
    served.send(request("listen", "subscriptions/listen", { notifications: { toolsListChanged: true } }));
    expect(await served.written(1)).toMatchObject([{ method: "notifications/subscriptions/acknowledged" }]);
    expect(entered()).toBe(64); // all 100 were read: the listening came after them
    served.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99 } });
    letGo();
    await served.written(65);
    await until(() => entered() === 35);
    letGo();
    await served.written(100);
    served.input.end();
    expect(await served.ended).toEqual({ code: 0 });
    expect(served.lines.map((line) => line["id"]).filter(Number.isInteger)).toEqual(
      Array.from({ length: 99 }, (_, id) => id),
    );
  });

  it("stops reading when 256 more wait, and goes on", async () => {
    const { server, entered, letGo } = gatedServer();
    const served = pipe(server);
    for (let id = 0; id < 1_000; id++) served.send(toolCall(id, "gate"));
    await until(() => served.input.isPaused());
    expect(served.input.readableLength + served.input.writableLength).toBeGreaterThan(0);
    const signal = AbortSignal.timeout(10_000);
    while (served.lines.length < 1_000) {
      signal.throwIfAborted();
      letGo();
      await new Promise(setImmediate);
      expect(entered()).toBeLessThanOrEqual(64);
    }
    expect(new Set(served.lines.map((line) => line["id"])).size).toBe(1_000);
  });

  it("stops reading when the client does not read its answers", async () => {
    const { server } = gatedServer();
    const served = pipe(server, { highWaterMark: 1_024, limits: { maxQueuedBytes: 400_000 } });
    for (let id = 0; id < 500; id++) {
      served.send(toolCall(id, "large"));
      if (id % 50 === 0) await new Promise(setImmediate);
    }
    await until(() => served.input.isPaused());
    let bytes = 0;
    served.output.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await until(() => bytes >= 500 * 100_000);
    expect(served.input.isPaused()).toBe(false);
  });

  it("stops reading when the client does not read its refusals, and goes on when it does", async () => {
    const served = pipe(sampleServer(), { highWaterMark: 1_024, limits: { maxQueued: 16 } });
    const lines = 2_000;
    // The notification between two bad lines keeps the count of bad lines in a row at one.
    for (let line = 0; line < lines; line++) {
      served.input.write('x\n{"jsonrpc":"2.0","method":"notifications/n"}\n');
      if (line % 100 === 0) await new Promise(setImmediate);
    }
    await until(() => served.input.isPaused());
    let refusals = 0;
    served.output.on("data", (chunk: Buffer) => {
      refusals += chunk.filter((byte) => byte === 0x0a).length;
    });
    await until(() => refusals === lines);
    expect(served.input.isPaused()).toBe(false);
  });

  it("stops reading too when a handler waits for a client that does not read", async () => {
    const served = pipe(sampleServer(), { highWaterMark: 1_024, limits: { maxInFlight: 1, maxQueued: 4 } });
    const capabilities = { elicitation: {} };
    const initialize = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "c", version: "1" } };
    served.send({ jsonrpc: "2.0", id: "i", method: "initialize", params: initialize });
    await new Promise(setImmediate);
    served.send({ jsonrpc: "2.0", id: "q", method: "tools/call", params: { name: "asks" } });
    await new Promise(setImmediate);
    for (let id = 0; id < 1_000; id++) {
      served.send({ jsonrpc: "2.0", id, method: "ping" });
      if (id % 100 === 0) await new Promise(setImmediate);
    }
    await until(() => served.input.isPaused());
  });

  it("answers -32603 instead of what is too large to be sent", async () => {
    const { server } = gatedServer();
    const served = pipe(server, { limits: { maxSentFrameBytes: 50_000 } });
    served.send(toolCall(1, "large"));
    expect(await served.written(1)).toEqual([
      { jsonrpc: "2.0", id: 1, error: { code: -32603, message: "the answer is too large", data: { limit: 50_000 } } },
    ]);
  });

  it("refuses limits that are none", () => {
    expect(() => pipe(sampleServer(), { limits: { maxInFlight: 0 } })).toThrow(RangeError);
    expect(() => pipe(sampleServer(), { limits: JSON.parse('{"maxInflight":1}') })).toThrow(TypeError);
  });
});
