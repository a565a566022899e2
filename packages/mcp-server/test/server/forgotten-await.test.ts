import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { JsonObject } from "@berth/jsonrpc-framing";
import { describe, expect, it } from "vitest";

const program = fileURLToPath(new URL("../programs/forgetful-server.mjs", import.meta.url));
const modern = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};
const opening = {
  protocolVersion: "2025-11-25",
  capabilities: { elicitation: {} },
  clientInfo: { name: "t", version: "1" },
};

/** In which any rejection that nobody handles ends the process. */
function start(...more: readonly string[]): ChildProcessWithoutNullStreams {
  const signal = AbortSignal.timeout(20_000);
  const child = spawn(process.execPath, ["--unhandled-rejections=strict", program, ...more], { signal });
  child.on("error", () => undefined); // the time limit
  child.stdin.on("error", () => undefined); // it may have ended
  return child;
}

/** How the calls of each era are answered: the same over both transports. */
const answers = {
  asks: { result: { resultType: "input_required", inputRequests: { q: { method: "elicitation/create" } } } },
  "cannot-ask": { result: { content: [{ text: "not waited" }] } },
  "asks-wrongly": { error: { code: -32603 } },
};
const legacyAnswers = { ...answers, asks: { result: { content: [{ text: "not waited" }] } } };

describe("a handler that does not wait for what it asked", () => {
  it("ends no process over stdio: the client is asked in 2026-07-28, and gets the result before", async () => {
    const child = start();
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const told: unknown[] = [];
    const ask = async (id: number, method: string, params: JsonObject): Promise<JsonObject> => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      for (;;) {
        const { value, done } = await lines.next();
        if (done === true) throw new Error("the process has ended");
        const message: JsonObject = JSON.parse(value);
        if ("method" in message) told.push(message["method"]);
        else if (message["id"] === id) return message;
      }
    };
    let id = 100;
    for (const [name, answer] of Object.entries(answers)) {
      expect(await ask(++id, "tools/call", { name, _meta: modern })).toMatchObject(answer);
    }
    await ask(++id, "initialize", opening);
    for (const [name, answer] of Object.entries(legacyAnswers)) {
      expect(await ask(++id, "tools/call", { name })).toMatchObject(answer);
    }
    await ask(++id, "tools/call", { name: "later" });
    // The question that nobody waits for and nobody answers has been given up meanwhile.
    expect(told).toEqual(["elicitation/create", "notifications/cancelled"]);
    child.stdin.end();
    expect(await once(child, "close")).toEqual([0, null]);
  });

  it("ends no process over HTTP either", async () => {
    const child = start("http");
    try {
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const { value: url } = await lines.next();
      const post = async (message: JsonObject, headers: Record<string, string>): Promise<Response> =>
        fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
          body: JSON.stringify({ jsonrpc: "2.0", ...message }),
        });
      let id = 100;
      for (const [name, answer] of Object.entries(answers)) {
        const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name };
        const response = await post({ id: ++id, method: "tools/call", params: { name, _meta: modern } }, headers);
        expect(await response.json()).toMatchObject(answer);
      }
      const opened = await post({ id: ++id, method: "initialize", params: opening }, {});
      const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
      for (const [name, answer] of Object.entries(legacyAnswers)) {
        const response = await post({ id: ++id, method: "tools/call", params: { name } }, session);
        const last = (await response.text()).trim().split("\n").at(-1) ?? "";
        expect(JSON.parse(last.replace(/^data: /, ""))).toMatchObject(answer);
      }
      const later = await post({ id: ++id, method: "tools/call", params: { name: "later" } }, session);
      expect(await later.text()).toContain("later"); // the question has been given up meanwhile
    } finally {
      child.kill();
    }
  });
});
