import { describe, expect, it } from "vitest";
import {
  byteServer,
  dial,
  exchange,
  latch,
  listenOn,
  openProxy,
  readAll,
  readUntil,
  socksConnect,
  untilConnected,
} from "./harness.js";

const connectTo = (port: number): string =>
  `CONNECT allowed.test:${port} HTTP/1.1\r\nHost: allowed.test:${port}\r\n\r\n`;
const allow = (port: number) => ({ allow: [{ host: "allowed.test", ports: [port] }] });
const opened = "HTTP/1.1 200 Connection established\r\n\r\n";
const socksOpened = "\x05\0\x05\0\0\x01\0\0\0\0\0\0";

const dialects = [
  { dialect: "connect", hello: connectTo, answer: opened },
  { dialect: "socks5", hello: (port: number) => socksConnect("allowed.test", port), answer: socksOpened },
];

describe.each(dialects)("a tunnel by $dialect", ({ dialect, hello, answer }) => {
  it("carries bytes both ways, those that came with the request too, and each end as an end", async () => {
    const port = await listenOn(
      byteServer(async (socket) => socket.end(Buffer.concat([Buffer.from("echo:"), await readAll(socket)]))),
    );
    const { proxy, decisions } = await openProxy(allow(port));
    const client = await dial(proxy.socket);
    client.write(Buffer.concat([Buffer.from(hello(port)), Buffer.from("early,")]));
    expect(await readUntil(client, answer)).toBe(answer);
    client.end("late");
    expect((await readAll(client)).toString()).toBe("echo:early,late");
    const allowed = { protocol: dialect, host: "allowed.test", port, outcome: "allowed", address: "127.0.0.1" };
    expect(decisions).toEqual([{ ...allowed, reason: undefined }]);
  });

  it("does not read from one side what the other does not take", async () => {
    let sent = 0;
    const block = Buffer.alloc(65_536);
    const stalled = latch<number>();
    const port = await listenOn(
      byteServer((socket) => {
        socket.resume();
        const send = (): void => {
          while (socket.write(block)) sent += block.length;
          sent += block.length;
        };
        socket.on("drain", send);
        // That nothing more is taken has no event: for this while nothing was, so everything between is full.
        socket.setTimeout(700, () => stalled.resolve(sent));
        send();
      }),
    );
    const { proxy } = await openProxy(allow(port));
    const client = await dial(proxy.socket);
    client.write(hello(port));
    await readUntil(client, answer);
    expect(await stalled.promise).toBeLessThan(16 * 1024 * 1024);
  });

  it("delivers all of a large answer to a slow reader, although the host has ended long before", async () => {
    const size = 3 * 1024 * 1024;
    const port = await listenOn(byteServer((socket) => socket.resume().end(Buffer.alloc(size, 7))));
    const { proxy } = await openProxy(allow(port));
    const client = await dial(proxy.socket);
    client.end(hello(port));
    await readUntil(client, answer);
    let read = 0;
    for await (const piece of client) {
      read += piece.length;
      await new Promise(setImmediate);
    }
    expect(read).toBe(size);
  });

  it("ends when either side is reset", async () => {
    const port = await listenOn(byteServer((socket) => void socket.once("data", () => socket.resetAndDestroy())));
    const { proxy } = await openProxy(allow(port));
    const client = await dial(proxy.socket);
    client.write(hello(port));
    await readUntil(client, answer);
    client.write("x");
    expect((await readAll(client)).length).toBe(0);
  });

  it("ends the host's side when the client is gone", async () => {
    const closed = latch<void>();
    const port = await listenOn(
      byteServer((socket) => {
        socket.once("close", () => closed.resolve());
        const flood = (): void => void (socket.destroyed || socket.write(Buffer.alloc(65_536), flood));
        socket.resume();
        flood();
      }),
    );
    const { proxy } = await openProxy(allow(port));
    const client = await dial(proxy.socket);
    client.write(hello(port));
    await readUntil(client, answer);
    client.destroy();
    await closed.promise;
    await untilConnected(proxy, 0);
  });
});

describe("SOCKS5", () => {
  const greeting = [5, 1, 0];
  it.each([
    {
      what: "an IPv4 address",
      request: [5, 1, 0, 1, 127, 0, 0, 1, 0, 80],
      host: "127.0.0.1",
      reason: "HOST_NOT_ALLOWED",
      reply: 2,
    },
    {
      what: "an IPv6 address",
      request: [5, 1, 0, 4, ...Array(15).fill(0), 1, 0, 80],
      host: "[0000:0000:0000:0000:0000:0000:0000:0001]",
      reason: "HOST_NOT_ALLOWED",
      reply: 2,
    },
    { what: "BIND", request: [5, 2, 0, 3, 1, 97, 0, 80], host: "a", reason: "REQUEST_INVALID", reply: 1 },
    { what: "UDP", request: [5, 3, 0, 3, 1, 97, 0, 80], host: "a", reason: "REQUEST_INVALID", reply: 1 },
    {
      what: "a name with NUL",
      request: [5, 1, 0, 3, 3, 97, 0, 98, 0, 80],
      host: "a?b",
      reason: "REQUEST_INVALID",
      reply: 1,
    },
    {
      what: "a name that is an address",
      request: [5, 1, 0, 3, 3, 49, 46, 49, 0, 80],
      host: "1.1",
      reason: "HOST_NOT_ALLOWED",
      reply: 2,
    },
    { what: "an empty name", request: [5, 1, 0, 3, 0, 0, 80], host: "", reason: "REQUEST_INVALID", reply: 1 },
  ])("refuses $what", async ({ request, host, reason, reply }) => {
    const { proxy, decisions } = await openProxy();
    const answer = await exchange(proxy.socket, Buffer.from([...greeting, ...request]));
    expect([...Buffer.from(answer, "latin1")].slice(0, 4)).toEqual([5, 0, 5, reply]);
    expect(decisions).toMatchObject([{ protocol: "socks5", host, outcome: "refused", reason }]);
  });

  it.each([
    { what: "only with a password", bytes: [5, 1, 2], answer: [5, 0xff] },
    { what: "with no method", bytes: [5, 0], answer: [5, 0xff] },
    { what: "in another version after the greeting", bytes: [5, 1, 0, 4, 1, 0, 1], answer: [5, 0] },
    { what: "of an unknown address type", bytes: [5, 1, 0, 5, 1, 0, 2, 0, 0, 0], answer: [5, 0] },
    { what: "to port 0", bytes: [5, 1, 0, 5, 1, 0, 3, 1, 97, 0, 0], answer: [5, 0] },
    { what: "that ends early", bytes: [5, 1, 0, 5, 1, 0, 3, 20, 97], answer: [5, 0] },
    { what: "of SOCKS4", bytes: [4, 1, 0, 80, 0, 0, 0, 1, 0], answer: [] },
    { what: "that is TLS", bytes: [0x16, 3, 1, 0, 5], answer: [] },
  ])("ends a request $what", async ({ bytes, answer }) => {
    const { proxy, decisions } = await openProxy();
    expect([...Buffer.from(await exchange(proxy.socket, Buffer.from(bytes)), "latin1")]).toEqual(answer);
    expect(decisions).toMatchObject([{ outcome: "refused", reason: "REQUEST_INVALID" }]);
  });
});
