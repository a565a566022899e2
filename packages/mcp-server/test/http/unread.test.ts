import { describe, expect, it } from "vitest";
import { type HttpServerLimits, serveHttp } from "../../src/http.js";
import { defineTool } from "../../src/index.js";
import { aborted, heldServer, until } from "../support/held.js";
import { call, codeOf, frontEnds, modern, type Sent } from "../support/http.js";
import { dial, type RawClient, raw } from "../support/raw-http.js";
import { sampleServer, sampleTools } from "../support/sample.js";

const megabyte = 1_048_576;
const anything = { type: "object" } as const;
/** A server that counts how many calls of its tool "big" have begun; each answers with a mebibyte. */
function bigServer() {
  const begun = { calls: 0 };
  const big = defineTool<string, typeof anything>({
    name: "big",
    description: "Answers with a mebibyte",
    inputSchema: anything,
    permission: "use",
    handler: () => {
      begun.calls += 1;
      return "x".repeat(megabyte);
    },
  });
  return { server: sampleServer({ tools: [...sampleTools, big] }), begun };
}
const serve = (server: ReturnType<typeof sampleServer>, limits: HttpServerLimits) =>
  serveHttp({ server, principal: "ada", limits, logger: () => undefined });
const many = (count: number, sent: Sent): string => raw(sent).repeat(count);

/** Connections that send so many calls and read no answer. */
async function dialSilent(port: number, connections: number, calls: number): Promise<readonly RawClient[]> {
  const clients = await Promise.all(Array.from({ length: connections }, () => dial(port)));
  for (const { socket, write } of clients) {
    socket.removeAllListeners("data").pause();
    await write(many(calls, call("big")));
  }
  return clients;
}

/** Asks until an answer has this status. */
async function askUntil(client: RawClient, status: number): Promise<void> {
  for (let asked = 1; asked < 10_000; asked += 1) {
    await client.write(raw(call("sum")));
    const answers = await client.answers(asked);
    if (answers.at(-1)?.startsWith(`HTTP/1.1 ${status}`)) return;
  }
  throw new Error(`never answered with ${status}`);
}

describe("answers that their client does not read", () => {
  it("hold up the next requests of its connection, until it reads", async () => {
    const { server, begun } = bigServer();
    await using http = await serve(server, { maxUnreadBytes: 1_024, maxPipelined: 2 });
    const [silent] = await dialSilent(http.port, 1, 40);
    const other = await dial(http.port);
    await until(() => begun.calls > 0);
    await askUntil(other, 200);
    expect(begun.calls).toBeLessThan(25); // those that the kernel took, and two
    let bytes = 0;
    silent?.socket.on("data", ({ length }) => {
      bytes += length;
    });
    silent?.socket.resume();
    await until(() => bytes > 40 * megabyte);
    expect(begun.calls).toBe(40);
    silent?.socket.destroy();
    other.socket.destroy();
  });

  it.each([
    ["bytes over the limit of all", { maxUnsentBytes: 5 * megabyte }],
    ["answers over the limit of those that are worked on", { maxInFlight: 8 }],
  ])("as %s keep further requests out, until their clients are gone", async (_name, limits) => {
    const { server } = bigServer();
    await using http = await serve(server, limits);
    const silent = await dialSilent(http.port, 4, 30);
    await askUntil(await dial(http.port), 503);
    for (const { socket } of silent) socket.destroy();
    const client = await dial(http.port);
    await askUntil(client, 200);
  });
});

describe("requests that come at once on one connection", () => {
  it("are begun up to the limit, and the next ones as those before them are answered", async () => {
    const { server, taken, outcomes } = heldServer();
    await using http = await serve(server, { maxPipelined: 3 });
    const client = await dial(http.port);
    await client.write(many(5, call("held")));
    const begun = [await taken(), await taken(), await taken()];
    const fourth = taken();
    const other = await dial(http.port);
    await other.write(raw(call("sum")));
    await other.answers(1);
    expect(await Promise.race([fourth, "not begun"])).toBe("not begun");
    begun[1]?.release();
    (await fourth).release();
    (await taken()).release();
    for (const { release } of begun) release();
    expect((await client.answers(5)).length).toBe(5);
    expect(outcomes.filter((outcome) => outcome === "success").length).toBe(6);
    for (const { socket } of [client, other]) socket.destroy();
  });

  it("are never begun when their client is gone before", async () => {
    const { server, taken, outcomes } = heldServer();
    await using http = await serve(server, { maxPipelined: 1 });
    const client = await dial(http.port);
    await client.write(many(3, call("held")));
    const { call: first, release } = await taken();
    client.socket.destroy();
    await aborted(first.signal);
    release();
    const other = await dial(http.port);
    await askUntil(other, 200);
    expect(outcomes).toEqual(["cancelled", "success"]);
    other.socket.destroy();
  });
});

describe.each(frontEnds)("a listener that does not read, over $name,", ({ start }) => {
  it("is cut off when it would have to be sent what cannot be left out", async () => {
    const { server, outcomes } = heldServer();
    let told = 0;
    const connections: ((size: number) => void)[] = [];
    const spied: typeof server = {
      ...server,
      openConnection(options) {
        connections.push((size) => {
          told += 1;
          options.send(Buffer.from(JSON.stringify("x".repeat(size))), { droppable: false, request: undefined });
        });
        return server.openConnection(options);
      },
    };
    await using front = await start({ server: spied, principal: "ada", limits: { maxUnreadBytes: 1_024 } });
    const listening = await front.open(modern("subscriptions/listen", { notifications: {} }));
    expect(await listening.next()).toMatchObject({ method: "notifications/subscriptions/acknowledged" });
    while (!outcomes.includes("cancelled")) {
      connections[0]?.(megabyte);
      expect(told).toBeLessThan(50);
      await new Promise(setImmediate);
    }
    expect(codeOf(await front.send(call("sum")))).toBeUndefined();
  });
});
