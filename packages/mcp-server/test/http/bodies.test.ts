import { describe, expect, it } from "vitest";
import { type HttpServerLimits, type ListeningLimits, serveHttp } from "../../src/http.js";
import { heldServer, until } from "../support/held.js";
import { call, codeOf, frontEnds } from "../support/http.js";
import { dial, raw, rawHead } from "../support/raw-http.js";
import { sampleServer } from "../support/sample.js";

const start = (limits: HttpServerLimits = {}, listening: ListeningLimits = {}) =>
  serveHttp({ server: sampleServer(), principal: "ada", limits, listening, logger: () => undefined });
const sized = (bytes: number) => {
  const { length } = String(call("echo", { text: "" }).body);
  return call("echo", { text: "x".repeat(bytes - length) });
};
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

describe.each(frontEnds)("bodies over $name", ({ start: startFront }) => {
  it.each([
    { bytes: 1_023, status: 200 },
    { bytes: 1_024, status: 200 },
    { bytes: 1_025, status: 413 },
    { bytes: 100_000, status: 413 },
  ])("of $bytes bytes under a limit of 1,024 are answered with $status", async ({ bytes, status }) => {
    await using front = await startFront({ server: sampleServer(), principal: "ada", limits: { maxBodyBytes: 1_024 } });
    const answer = await front.send(sized(bytes));
    expect([answer.status, codeOf(answer)]).toEqual([status, status === 413 ? -32600 : undefined]);
    expect((await front.send(call("sum"))).status).toBe(200);
  });

  it("together over the limit of all are 503", async () => {
    const limits = { maxBufferedBytes: 1_024 };
    await using front = await startFront({ server: sampleServer(), principal: "ada", limits });
    const answer = await front.send(sized(20_000));
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    for (let count = 0; count < 10; count += 1) expect((await front.send(sized(17_400))).status).toBe(200);
  });
});

describe("bytes of Node's http", () => {
  it("a request may be cut anywhere", async () => {
    await using http = await start();
    const bytes = Buffer.from(raw(call("echo", { text: "grüße" })));
    const client = await dial(http.port);
    let sent = 0;
    for (let at = 1; at < bytes.length; at += 13) {
      await client.write(bytes.subarray(0, at));
      await client.write(bytes.subarray(at));
      sent += 1;
    }
    const answers = await client.answers(sent);
    for (const answer of answers) expect(answer).toContain("grüße");
    client.socket.destroy();
  });

  it("a chunked body is read, whatever its chunks are", async () => {
    await using http = await start();
    const client = await dial(http.port);
    const sent = call("echo", { text: "grüße" });
    await client.write(rawHead(sent, { "transfer-encoding": "chunked" }));
    for (const character of String(sent.body)) await client.write(chunk(character));
    await client.write("0\r\n\r\n");
    expect((await client.answers(1))[0]).toMatch(/^HTTP\/1\.1 200/);
    client.socket.destroy();
  });

  it("requests that come at once are answered in their order, however long each takes", async () => {
    const { server, taken } = heldServer();
    await using http = await serveHttp({ server, principal: "ada" });
    const client = await dial(http.port);
    await client.write(raw(call("held", {}, { id: "first" })) + raw(call("sum", {}, { id: "second" })));
    const { release } = await taken();
    release();
    const [first, second] = await client.answers(2);
    expect([first, second]).toEqual([
      expect.stringContaining('"id":"first"'),
      expect.stringContaining('"id":"second"'),
    ]);
    client.socket.destroy();
  });

  it("a declared length over the limit is refused before the body comes, and the connection can be used again", async () => {
    await using http = await start({ maxBodyBytes: 1_024 });
    const client = await dial(http.port);
    const sent = sized(2_000);
    await client.write(rawHead(sent, { "content-length": "2000" }));
    expect((await client.answers(1))[0]).toMatch(/^HTTP\/1\.1 413/);
    await client.write(String(sent.body));
    await client.write(raw(call("sum")));
    expect((await client.answers(2))[1]).toMatch(/^HTTP\/1\.1 200/);
    client.socket.destroy();
  });

  it.each([
    ["declared", { "content-length": "100000000" }],
    ["chunked", { "transfer-encoding": "chunked" }],
  ])("a %s body that goes on after its refusal ends the connection", async (kind, headers) => {
    await using http = await start({ maxBodyBytes: 1_024 });
    const client = await dial(http.port);
    await client.write(rawHead(call("sum"), headers));
    const piece = kind === "chunked" ? chunk("x".repeat(512)) : "x".repeat(512);
    const sending = setInterval(() => client.socket.write(piece), 1);
    expect(await client.ended()).toMatch(/^HTTP\/1\.1 413/);
    clearInterval(sending);
  });

  it("a body that takes too long is 408, and the connection ends", async () => {
    await using http = await start({ bodyMs: 30 });
    const client = await dial(http.port);
    await client.write(`${rawHead(call("sum"), { "content-length": "100" })}{`);
    const received = await client.ended();
    expect(received).toMatch(/^HTTP\/1\.1 408/);
    expect(received).toContain('"code":-32600');
  });

  it("slow bodies do not keep others out, up to the limit of those that are read", async () => {
    await using http = await start({ maxReading: 3, maxInFlight: 1 });
    const slow = await Promise.all([1, 2].map(() => dial(http.port)));
    for (const client of slow) await client.write(rawHead(call("sum"), { "content-length": "100" }));
    const client = await dial(http.port);
    await client.write(raw(call("sum")));
    expect((await client.answers(1))[0]).toMatch(/^HTTP\/1\.1 200/);
    const last = await dial(http.port);
    await last.write(rawHead(call("sum"), { "content-length": "100" }));
    let seen = 1;
    while (!client.received.includes("HTTP/1.1 503")) {
      await client.write(raw(call("sum")));
      seen += 1;
      await client.answers(seen);
      expect(seen).toBeLessThan(1_000);
    }
    for (const { socket } of [...slow, last, client]) socket.destroy();
  });

  it("large slow bodies do not keep small ones out", async () => {
    await using http = await start({ maxBufferedBytes: 10_000 });
    const slow = await dial(http.port);
    await slow.write(rawHead(call("sum"), { "content-length": "100000" }) + "x".repeat(26_000));
    const large = await dial(http.port);
    let refused = 0;
    while (!large.received.includes("HTTP/1.1 503")) {
      await large.write(raw(sized(20_000)));
      refused += 1;
      await large.answers(refused);
      expect(refused).toBeLessThan(100);
    }
    const small = await dial(http.port);
    await small.write(raw(sized(16_000)));
    expect((await small.answers(1))[0]).toMatch(/^HTTP\/1\.1 200/);
    for (const { socket } of [slow, large, small]) socket.destroy();
  });

  it("large bodies are counted as long as their requests are worked on", async () => {
    const { server, taken } = heldServer();
    await using http = await serveHttp({ server, principal: "ada", limits: { maxInFlightBytes: 20_000 } });
    const large = call("held", { text: "x".repeat(30_000) });
    const clients = await Promise.all([1, 2, 3].map(() => dial(http.port)));
    const [first, second, small] = clients;
    await first?.write(raw(large));
    const { release } = await taken();
    await second?.write(raw(large));
    expect((await second?.answers(1))?.[0]).toMatch(/^HTTP\/1\.1 503.*retry-after: 1/is);
    await small?.write(raw(call("sum")));
    expect((await small?.answers(1))?.[0]).toMatch(/^HTTP\/1\.1 200/);
    release();
    await first?.answers(1);
    await second?.write(raw(large));
    (await taken()).release();
    expect((await second?.answers(2))?.[1]).toMatch(/^HTTP\/1\.1 200/);
    for (const { socket } of clients) socket.destroy();
  });

  it.each(["content-type", "mcp-protocol-version", "mcp-method", "mcp-name"])(
    "two %s headers are refused, also when they say the same",
    async (name) => {
      await using http = await start();
      const client = await dial(http.port);
      const sent = call("sum");
      await client.write(raw(sent, { [name.toUpperCase()]: sent.headers?.[name] ?? "" }));
      expect((await client.answers(1))[0]).toMatch(/^HTTP\/1\.1 4(?:00|15)/);
      client.socket.destroy();
    },
  );

  it.each(["origin: http://evil.example", "host: evil.example"])(
    "thousands of headers do not hide %s",
    async (hidden) => {
      await using http = await start();
      const client = await dial(http.port);
      const [head = "", body = ""] = raw(call("sum")).split("\r\n\r\n");
      await client.write(`${head}\r\n${"a:b\r\n".repeat(2_100)}${hidden}\r\n\r\n${body}`);
      expect((await client.answers(1))[0]).toMatch(/^HTTP\/1\.1 403/);
      client.socket.destroy();
    },
  );

  it("the body of a request that is refused for its head is thrown away", async () => {
    await using http = await start();
    const client = await dial(http.port);
    await client.write(raw(call("sum"), { "content-type": "text/plain" }) + raw(call("sum")));
    const [first, second] = await client.answers(2);
    expect([first, second]).toEqual([
      expect.stringMatching(/^HTTP\/1\.1 415/),
      expect.stringMatching(/^HTTP\/1\.1 200/),
    ]);
    client.socket.destroy();
  });

  it.each([
    ["two Host headers", `${rawHead(call("sum")).slice(0, -2)}host: localhost\r\ncontent-length: 0\r\n\r\n`, 403],
    ["an absolute address", raw(call("sum")).replace("/mcp", "http://localhost/mcp"), 404],
    ["HTTP/1.0 without Host", "POST /mcp HTTP/1.0\r\ncontent-length: 0\r\n\r\n", 403],
    ["HTTP/1.1 without Host", "POST /mcp HTTP/1.1\r\ncontent-length: 0\r\n\r\n", 400],
    ["two lengths", raw(call("sum"), { "Content-Length": "1" }), 400],
    ["no HTTP", "GARBAGE\r\n\r\n", 400],
    ["a head over the limit", rawHead(call("sum"), { "x-large": "x".repeat(5_000) }), 431],
  ])("%s: %#", async (_name, bytes, status) => {
    await using http = await start({}, { maxHeaderBytes: 4_096 });
    const client = await dial(http.port);
    await client.write(bytes);
    const [answer] = await client.answers(1);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status}`));
    expect(answer).not.toContain("<");
    client.socket.destroy();
  });

  it("a head that does not end is given up, and so is a connection that asks nothing more", async () => {
    await using http = await start({}, { headersMs: 50, idleMs: 50 });
    const slow = await dial(http.port);
    await slow.write("POST /mcp HTTP/1.1\r\nhost: localhost\r\n");
    const idle = await dial(http.port);
    await idle.write(raw(call("sum")));
    expect(await slow.ended()).toMatch(/^HTTP\/1\.1 408/);
    expect(await idle.ended()).toMatch(/^HTTP\/1\.1 200/);
  });

  it("connections over the limit are closed at once", async () => {
    await using http = await start({}, { maxConnections: 1 });
    const first = await dial(http.port);
    await first.write(raw(call("sum")));
    await first.answers(1);
    expect(await (await dial(http.port)).ended()).toBe("");
    first.socket.destroy();
    await until(() => first.socket.destroyed);
  });

  it("a client that does not read its answer is cut off", async () => {
    const { server, taken, outcomes } = heldServer();
    await using http = await serveHttp({
      server,
      principal: "ada",
      limits: { deliveryMs: 50 },
      listening: { maxConnections: 1 },
    });
    const client = await dial(http.port);
    client.socket.pause();
    await client.write(raw(call("held")));
    const { release } = await taken();
    release("x".repeat(50_000_000));
    await until(() => outcomes.length === 1);
    // Another one is let in as soon as the first is cut off.
    for (let isServed = false; !isServed; ) {
      const other = await dial(http.port);
      await other.write(
        rawHead(call("sum"), { "content-length": "1", "content-type": "text/plain", connection: "close" }),
      );
      isServed = (await other.ended()).includes("415");
    }
    client.socket.resume();
    const received = await client.ended();
    expect(received.length).toBeLessThan(50_000_000);
  });
});
