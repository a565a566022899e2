import fc from "fast-check";
import { expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { byteServer, dial, exchange, listenOn, openProxy, readAll, socksConnect, untilConnected } from "./harness.js";

/** Fragments that requests are made of, right ones and wrong ones, so that runs of them come deep into the readers. */
const fragments = fc.oneof(
  fc.constantFrom(
    "GET ",
    "POST ",
    "CONNECT ",
    "http://",
    "allowed.test",
    "other.test",
    "allowed.test.",
    "ALLOWED.TEST",
    "127.0.0.1",
    "[::1]",
    "@",
    ":",
    "/",
    " HTTP/1.1\r\n",
    " HTTP/1.0\r\n",
    "Host: ",
    "\r\n",
    "\r\n\r\n",
    "\n",
    "Content-Length: 3\r\n",
    "Transfer-Encoding: chunked\r\n",
    "3\r\nabc\r\n0\r\n\r\n",
    "\x05\x01\x00",
    "\x05\x01\x00\x03\x0callowed.test",
    "\x05\x01\x00\x03\x0aother.test",
    "\x05\x01\x00\x01\x7f\x00\x00\x01",
    "\0",
  ),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const anyBytes = fc.oneof(
  fc.array(fragments, { maxLength: 14 }).map((parts) => Buffer.from(parts.join(""), "latin1")),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);

it("no run of bytes connects to what is not allowed, and none ends the proxy", async () => {
  let accepted = 0;
  const port = await listenOn(
    byteServer((socket) => {
      accepted += 1;
      socket.resume().end();
    }),
  );
  const { proxy, decisions } = await openProxy({ allow: [{ host: "allowed.test", ports: [port] }] });
  const target = Buffer.from([port >> 8, port & 0xff]).toString("latin1");
  const runs = fc.tuple(anyBytes, fc.constantFrom("", String(port), target), anyBytes);
  await fc.assert(
    fc.asyncProperty(runs, async ([start, middle, end]) => {
      await exchange(proxy.socket, Buffer.concat([start, Buffer.from(middle, "latin1"), end]));
    }),
    { numRuns: scaledCount("runs of bytes", 20_000) },
  );
  const allowed = decisions.filter(({ outcome }) => outcome === "allowed");
  expect(accepted).toBe(allowed.length);
  expect(allowed.every(({ host, port: to }) => host === "allowed.test" && to === port)).toBe(true);
  await exchange(proxy.socket, socksConnect("allowed.test", port));
  expect(accepted).toBe(allowed.length + 1);
  await untilConnected(proxy, 0);
});

it("a request is the same however its bytes are cut", async () => {
  const port = await listenOn(
    byteServer(
      (socket) => void socket.once("data", () => socket.end("HTTP/1.1 200 Ok\r\nContent-Length: 2\r\n\r\nok")),
    ),
  );
  const { proxy } = await openProxy({ allow: [{ host: "allowed.test", ports: [port] }] });
  const request = `POST http://allowed.test:${port}/ HTTP/1.1\r\nHost: allowed.test:${port}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`;
  const whole = await exchange(proxy.socket, request);
  expect(whole).toMatch(/^HTTP\/1\.1 200 Ok/);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(request.length), { maxLength: 6 }), async (cuts) => {
      const client = await dial(proxy.socket);
      const answer = readAll(client);
      const edges = [0, ...cuts.sort((a, b) => a - b), request.length];
      for (const [index, edge] of edges.slice(1).entries()) {
        await new Promise((resolve) => client.write(request.slice(edges[index], edge), resolve));
      }
      expect((await answer).toString()).toBe(whole);
      client.destroy();
    }),
    { numRuns: scaledCount("cuts of a request", 2_000) },
  );
});
