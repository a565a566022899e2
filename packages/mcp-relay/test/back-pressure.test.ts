import { PassThrough } from "node:stream";
import { createStreamTransport } from "@berth/stdio-transport";
import { describe, expect, it } from "vitest";
import { createRelaySession } from "../src/index.js";
import { openScripted, type ScriptedServer, tool, toolServer } from "./support/scripted-server.js";

const largeAnswers = toolServer([tool("x")], {
  "tools/call": () => JSON.stringify({ text: "x".repeat(50_000) }),
});

/** A relay whose client writes, and reads only when told to. */
const openUnread = (limits: object, maxQueuedBytes?: number, script = largeAnswers) => {
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark: 1_024 });
  const servers: ScriptedServer[] = [];
  const notices: string[] = [];
  const session = createRelaySession({
    downstream: createStreamTransport({ readable: input, writable: output, ...(maxQueuedBytes && { maxQueuedBytes }) }),
    servers: [{ name: "s" }],
    names: "plain",
    serverInfo: { name: "x", version: "0" },
    limits,
    record: () => undefined,
    onNotice: ({ code }) => notices.push(code),
    async openUpstream() {
      const server = openScripted(script);
      servers.push(server);
      return server.connection;
    },
  });
  const say = (message: object) => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  say({ id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } });
  return { session, input, output, servers, notices, say };
};

describe("a client that does not keep up", () => {
  it("slows its servers down, and gets every answer once it reads", async () => {
    const relay = openUnread({ pauseAboveBytes: 100_000 });
    for (let id = 1; id <= 60; id += 1) relay.say({ id, method: "tools/call", params: { name: "x" } });
    await expect
      .poll(() => relay.servers[0]?.received.filter(({ message }) => message.method === "tools/call").length)
      .toBe(60);
    // The server has answered all; what the client does not read is held at the server's end but for a little.
    expect(relay.session.status()[0]?.pendingCalls).toBeGreaterThan(30);
    let text = "";
    relay.output.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    await expect.poll(() => text.split("\n").length - 1, { timeout: 10_000 }).toBe(61);
    await relay.session.close();
  });

  it("slows down a server that has not introduced itself yet too", async () => {
    const relay = openUnread({ pauseAboveBytes: 100_000 }, 2_000_000, toolServer([], { initialize: () => undefined }));
    relay.say({ id: 1, method: "tools/list" });
    await expect.poll(() => relay.servers.length).toBe(1);
    const data = "x".repeat(50_000);
    for (let count = 0; count < 100; count += 1) {
      relay.servers[0]?.send({ jsonrpc: "2.0", method: "notifications/message", params: { data } });
    }
    let text = "";
    const read = () => text.split("\n").filter((line) => line.includes("notifications/message")).length;
    await new Promise(setImmediate);
    expect(relay.session.status()[0]?.state).toBe("starting");
    relay.output.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    await expect.poll(read, { timeout: 10_000 }).toBe(100);
    expect(relay.notices).toEqual([]);
    await relay.session.close();
  });

  it("and does not read at all costs its session when the memory for it is used up", async () => {
    const relay = openUnread({ pauseAboveBytes: 1_000_000 }, 200_000);
    for (let id = 1; id <= 60; id += 1) relay.say({ id, method: "tools/call", params: { name: "x" } });
    await relay.session.closed;
    expect(relay.notices).toContain("CLIENT_NOT_READING");
  });
});
