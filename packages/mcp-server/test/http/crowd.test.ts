import { spawn } from "node:child_process";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { type HttpServer, serveHttp } from "../../src/http.js";
import { heldServer, until } from "../support/held.js";
import { call, modern, type Sent } from "../support/http.js";
import { dial, type RawClient, raw, rawHead } from "../support/raw-http.js";

const listenTo = (id: number): Sent =>
  modern("subscriptions/listen", { notifications: { toolsListChanged: true } }, { id });
const listeners = fileURLToPath(new URL("../programs/idle-listeners.mjs", import.meta.url));
const heap = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};
const isServed = async ({ url }: HttpServer): Promise<void> => {
  const { headers = {}, body = "" } = call("sum");
  expect((await fetch(url, { method: "POST", headers, body: String(body) })).status).toBe(200);
};

describe("many at once over HTTP", () => {
  it("idle streams cost little, hear what they asked for, and leave nothing", { timeout: 300_000 }, async () => {
    const count = scaledCount("idle streams", 10_000);
    const { server, outcomes } = heldServer();
    const limits = { maxListens: count, keepAliveMs: 1_000 };
    await using http = await serveHttp({ server, principal: "ada", limits });
    const before = heap();
    const args = [listeners, String(http.port), String(count), raw(listenTo(1))];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe("acknowledged");
    const bytes = (heap() - before) / count;
    console.log(`heap of an idle stream: ${Math.round(bytes)} bytes`);
    expect(bytes).toBeLessThan(40_000);
    server.listChanged("tools");
    expect((await lines.next()).value).toBe("list_changed");
    await isServed(http);
    child.kill("SIGKILL");
    await until(() => outcomes.filter((outcome) => outcome === "cancelled").length === count);
    await isServed(http);
  });

  it("calls get each its own answer", { timeout: 60_000 }, async () => {
    const { server, taken } = heldServer();
    const count = 1_000;
    await using http = await serveHttp({ server, principal: "ada" });
    const agent = new Agent({ keepAlive: true, maxSockets: count });
    const ask = (text: string): Promise<string> => {
      const { headers, body } = call("held", { text }, { id: 1 });
      return new Promise((resolve, reject) => {
        const asked = request(http.url, { method: "POST", agent, ...(headers && { headers }) }, async (answer) => {
          const chunks: Uint8Array[] = [];
          for await (const chunk of answer) chunks.push(chunk);
          resolve(Buffer.concat(chunks).toString());
        });
        asked.on("error", reject).end(body);
      });
    };
    const answers = Array.from({ length: count }, (_, index) => ask(`text ${index};`));
    const calls = [];
    for (let index = 0; index < count; index += 1) calls.push(await taken());
    for (const { call: open, release } of calls.reverse()) release(String(open.arguments["text"]));
    for (const [index, answer] of (await Promise.all(answers)).entries()) expect(answer).toContain(`text ${index};`);
    agent.destroy();
  });

  it("bodies that never end keep nobody out, and are ended", { timeout: 60_000 }, async () => {
    const count = scaledCount("endless bodies", 4_000);
    const { server } = heldServer();
    await using http = await serveHttp({ server, principal: "ada", limits: { bodyMs: 2_000 } });
    const clients: RawClient[] = [];
    for (let index = 0; index < count; index += 1) {
      const client = await dial(http.port);
      await client.write(`${rawHead(call("sum"), { "content-length": "1000" })}{`);
      clients.push(client);
    }
    await isServed(http);
    for (const client of clients) expect(await client.ended()).toContain("HTTP/1.1 408");
    await isServed(http);
  });
});
