import { createServer, type IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { byteServer, dial, exchange, listenOn, openProxy, readAll } from "./harness.js";

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly fields: readonly string[];
  readonly body: string;
}

/** A web server that tells what it saw. */
async function openSite(answer: Record<string, string> = {}): Promise<{ port: number; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    seen.push({ method: request.method, url: request.url, fields: request.rawHeaders, body });
    response.writeHead(200, answer).end("the answer");
  });
  return { port: await listenOn(server), seen };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request) text += piece;
  return text;
}

const allow = (port: number) => ({ allow: [{ host: "allowed.test", ports: [port] }] });
const bodyOf = (answer: string): string => answer.slice(answer.indexOf("\r\n\r\n") + 4);

describe("plain HTTP", () => {
  it("is forwarded to an allowed host, with the Host of the target", async () => {
    const { port, seen } = await openSite();
    const { proxy, decisions } = await openProxy(allow(port));
    const target = `http://ALLOWED.test:${port}/a/b?c=d%20e`;
    const answer = await exchange(
      proxy.socket,
      `GET ${target} HTTP/1.1\r\nHost: Allowed.Test.:${port}\r\nX-One: 1\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(bodyOf(answer)).toBe("a\r\nthe answer\r\n0\r\n\r\n");
    expect(seen).toMatchObject([{ method: "GET", url: "/a/b?c=d%20e", body: "" }]);
    expect(seen[0]?.fields).toEqual(["host", `allowed.test:${port}`, "x-one", "1", "Connection", "close"]);
    const outcome = { protocol: "http", host: "allowed.test", port, outcome: "allowed", address: "127.0.0.1" };
    expect(decisions).toEqual([{ ...outcome, reason: undefined }]);
  });

  it("is answered without chunks to a client of HTTP/1.0", async () => {
    const { port } = await openSite();
    const { proxy } = await openProxy(allow(port));
    const answer = await exchange(proxy.socket, `GET http://allowed.test:${port} HTTP/1.0\r\n\r\n`);
    expect(bodyOf(answer)).toBe("the answer");
  });

  it("drops hop-by-hop fields, and those that Connection names, in both directions", async () => {
    const { port, seen } = await openSite({
      "X-Kept": "yes",
      "X-Hop": "no",
      Connection: "X-Hop",
      "Proxy-Authenticate": "no",
    });
    const { proxy } = await openProxy(allow(port));
    const fields = [
      `Host: allowed.test:${port}`,
      "Connection: close, X-Secret , host",
      "X-Secret: no",
      "Proxy-Connection: keep-alive",
      "Proxy-Authorization: Basic no",
      "Keep-Alive: 1",
      "TE: trailers",
      "Upgrade: websocket",
      "Accept: yes",
    ];
    const head = `GET http://allowed.test:${port}/ HTTP/1.1\r\n${fields.join("\r\n")}\r\n\r\n`;
    const answer = await exchange(proxy.socket, head);
    expect(seen[0]?.fields.join(" ")).toBe(`host allowed.test:${port} accept yes Connection close`);
    expect(answer).toContain("x-kept: yes");
    expect(answer).not.toMatch(/no\r\n/);
  });

  it.each([
    { how: "a length", framing: "Content-Length: 5\r\n\r\nhello" },
    { how: "chunks", framing: "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\nX-Trailer: 1\r\n\r\n" },
  ])("carries a body with $how, and nothing that follows it", async ({ framing }) => {
    const { port, seen } = await openSite();
    const { proxy } = await openProxy(allow(port));
    const head = `POST http://allowed.test:${port}/ HTTP/1.1\r\nHost: allowed.test:${port}\r\n`;
    const second = "GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n";
    const answer = await exchange(proxy.socket, `${head}${framing}${second}`);
    expect(seen.map(({ method, body }) => [method, body])).toEqual([["POST", "hello"]]);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(seen[0]?.fields.join(" ").toLowerCase()).not.toContain("trailer");
  });

  it("tells a client that waits to go on, once the host was reached", async () => {
    const { port, seen } = await openSite();
    const { proxy } = await openProxy(allow(port));
    const client = await dial(proxy.socket);
    const all = readAll(client);
    const fields = `Host: allowed.test:${port}\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n`;
    client.write(`PUT http://allowed.test:${port}/ HTTP/1.1\r\n${fields}`);
    client.once("data", () => client.write("ok"));
    expect((await all).toString()).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
    expect(seen[0]?.body).toBe("ok");
    expect(seen[0]?.fields.join(" ").toLowerCase()).not.toContain("expect");
  });

  it.each([
    { method: "HEAD", status: 200, head: "Content-Length: 10", body: "" },
    { method: "GET", status: 304, head: "ETag: x", body: "" },
    { method: "GET", status: 204, head: "X-A: b", body: "" },
    { method: "GET", status: 200, head: "Content-Length: 4", body: "four" },
  ])("frames an answer of $status to $method as it is", async ({ method, status, head, body }) => {
    const port = await listenOn(
      byteServer((socket) => socket.resume().write(`HTTP/1.1 ${status} Ok\r\n${head}\r\n\r\n${body}`)),
    );
    const { proxy } = await openProxy(allow(port));
    const answer = await exchange(
      proxy.socket,
      `${method} http://allowed.test:${port}/ HTTP/1.1\r\nHost: allowed.test:${port}\r\n\r\n`,
    );
    expect(answer.toLowerCase()).toContain(head.toLowerCase());
    expect(bodyOf(answer)).toBe(body);
  });

  it("breaks the client's connection when an answer breaks off, so that the part is not taken for the whole", async () => {
    const port = await listenOn(
      byteServer((socket) => {
        socket.resume().write("HTTP/1.1 200 Ok\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n");
        socket.end();
      }),
    );
    const { proxy } = await openProxy(allow(port));
    const answer = await exchange(
      proxy.socket,
      `GET http://allowed.test:${port}/ HTTP/1.1\r\nHost: allowed.test:${port}\r\n\r\n`,
    );
    expect(bodyOf(answer)).toBe("4\r\npart\r\n");
  });

  it.each([
    { what: "no HTTP", bytes: "SSH-2.0-server\r\n" },
    {
      what: "a head that is ambiguous",
      bytes: "HTTP/1.1 200 Ok\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    },
    {
      what: "a switch of protocols that nobody asked for",
      bytes: "HTTP/1.1 101 Switch\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    },
    { what: "a head over 64 KiB", bytes: `HTTP/1.1 200 Ok\r\nX: ${"a".repeat(70_000)}\r\n\r\n` },
    { what: "nothing", bytes: "" },
  ])("is answered 502 when the host says $what", async ({ bytes }) => {
    const port = await listenOn(byteServer((socket) => socket.resume().end(bytes)));
    const { proxy } = await openProxy(allow(port));
    const answer = await exchange(
      proxy.socket,
      `GET http://allowed.test:${port}/ HTTP/1.1\r\nHost: allowed.test:${port}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/);
  });
});

describe("a request that could be read in two ways", () => {
  const host = "Host: allowed.test";
  it.each([
    {
      what: "both framings",
      head: ["POST http://allowed.test/ HTTP/1.1", host, "Content-Length: 4", "Transfer-Encoding: chunked"],
    },
    {
      what: "two lengths",
      head: ["POST http://allowed.test/ HTTP/1.1", host, "Content-Length: 4", "Content-Length: 4"],
    },
    { what: "a list of lengths", head: ["POST http://allowed.test/ HTTP/1.1", host, "Content-Length: 4, 4"] },
    { what: "a signed length", head: ["POST http://allowed.test/ HTTP/1.1", host, "Content-Length: +4"] },
    {
      what: "a coding beside chunked",
      head: ["POST http://allowed.test/ HTTP/1.1", host, "Transfer-Encoding: gzip, chunked"],
    },
    { what: "a masked coding", head: ["POST http://allowed.test/ HTTP/1.1", host, "Transfer-Encoding: \x0bchunked"] },
    { what: "chunks in HTTP/1.0", head: ["POST http://allowed.test/ HTTP/1.0", host, "Transfer-Encoding: chunked"] },
    { what: "a space before the colon", head: ["GET http://allowed.test/ HTTP/1.1", "Host : allowed.test"] },
    { what: "a folded line", head: ["GET http://allowed.test/ HTTP/1.1", host, "X-A: b", " c"] },
    { what: "a bare line feed", head: ["GET http://allowed.test/ HTTP/1.1", `${host}\nX-A: b`] },
    { what: "a bare carriage return", head: ["GET http://allowed.test/ HTTP/1.1", `${host}\rX-A: b`] },
    { what: "a NUL", head: ["GET http://allowed.test/ HTTP/1.1", `${host}\0`] },
    { what: "no Host", head: ["GET http://allowed.test/ HTTP/1.1"] },
    { what: "two Hosts", head: ["GET http://allowed.test/ HTTP/1.1", host, "Host: evil.test"] },
    { what: "another Host", head: ["GET http://allowed.test/ HTTP/1.1", "Host: evil.test"] },
    { what: "another port in Host", head: ["GET http://allowed.test/ HTTP/1.1", "Host: allowed.test:81"] },
    { what: "another Host for CONNECT", head: ["CONNECT allowed.test:80 HTTP/1.1", "Host: evil.test:80"] },
    {
      what: "CONNECT with a body",
      head: ["CONNECT allowed.test:80 HTTP/1.1", "Host: allowed.test:80", "Content-Length: 5"],
    },
    { what: "CONNECT without a port", head: ["CONNECT allowed.test HTTP/1.1", host] },
    { what: "CONNECT to an address with user", head: ["CONNECT a@allowed.test:80 HTTP/1.1", host] },
    { what: "user information", head: ["GET http://evil.test@allowed.test/ HTTP/1.1", host] },
    { what: "a fragment", head: ["GET http://allowed.test/#x HTTP/1.1", host] },
    { what: "a backslash in the authority", head: ["GET http://evil.test\\allowed.test/ HTTP/1.1", host] },
    { what: "origin-form", head: ["GET / HTTP/1.1", host] },
    { what: "https in absolute-form", head: ["GET https://allowed.test/ HTTP/1.1", host] },
    { what: "two spaces", head: ["GET  http://allowed.test/ HTTP/1.1", host] },
    { what: "HTTP/2.0", head: ["GET http://allowed.test/ HTTP/2.0", host] },
    { what: "HTTP/0.9", head: ["GET http://allowed.test/"] },
    { what: "TRACE", head: ["TRACE http://allowed.test/ HTTP/1.1", host] },
    { what: "an unknown expectation", head: ["GET http://allowed.test/ HTTP/1.1", host, "Expect: x"] },
    { what: "101 fields", head: ["GET http://allowed.test/ HTTP/1.1", ...Array.from({ length: 101 }, () => host)] },
    { what: "a NUL in the host", head: ["CONNECT allowed.test\0.evil.test:80 HTTP/1.1", host] },
    { what: "bytes that are no UTF-8 in the host", head: ["CONNECT \xff\xfe.test:80 HTTP/1.1", host] },
  ])("is refused: $what", async ({ head }) => {
    const { proxy, decisions } = await openProxy({
      resolve: async () => Promise.reject(new Error("must not be asked")),
    });
    const answer = await exchange(proxy.socket, Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"));
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(decisions).toMatchObject([{ outcome: "refused", reason: "REQUEST_INVALID", address: undefined }]);
  });

  it.each([
    { what: "a size that is no number", chunks: "x\r\n" },
    { what: "an extension", chunks: "5;a=b\r\nhello\r\n0\r\n\r\n" },
    { what: "a bare line feed", chunks: "5\nhello\r\n0\r\n\r\n" },
    { what: "a wrong end", chunks: "5\r\nhelloXX0\r\n\r\n" },
    { what: "a size of 9 digits", chunks: "000000005\r\nhello\r\n0\r\n\r\n" },
    { what: "a negative size", chunks: "-5\r\nhello\r\n0\r\n\r\n" },
    { what: "endless trailers", chunks: `0\r\n${"X: y\r\n".repeat(2_000)}` },
  ])("is broken off inside its chunks: $what", async ({ chunks }) => {
    let whole = 0;
    const server = createServer((request, response) => {
      request
        .on("error", () => {})
        .on("end", () => (whole += 1))
        .resume();
      response.on("error", () => {});
    });
    const port = await listenOn(server);
    const { proxy } = await openProxy(allow(port));
    const head = `POST http://allowed.test:${port}/ HTTP/1.1\r\nHost: allowed.test:${port}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    expect(await exchange(proxy.socket, head + chunks)).toMatch(/^HTTP\/1\.1 400 /);
    expect(whole).toBe(0);
  });
});
