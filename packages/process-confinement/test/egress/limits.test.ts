import { existsSync, statSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createEgressProxy, type EgressOptions, isConfinementError } from "../../src/egress/index.js";
import {
  byteServer,
  dial,
  exchange,
  latch,
  listenOn,
  openProxy,
  readAll,
  readUntil,
  temporaryFolder,
  untilConnected,
} from "./harness.js";

const connectTo = (port: number): string =>
  `CONNECT allowed.test:${port} HTTP/1.1\r\nHost: allowed.test:${port}\r\n\r\n`;

describe("limits", () => {
  it("a head over maxHeadBytes is refused before it ends", async () => {
    const { proxy, decisions } = await openProxy({ limits: { maxHeadBytes: 1_024 } });
    const client = await dial(proxy.socket);
    client.write(`GET http://allowed.test/ HTTP/1.1\r\nX: ${"a".repeat(1_100)}`);
    expect((await readAll(client)).toString()).toMatch(/^HTTP\/1\.1 431 /);
    expect(decisions).toMatchObject([{ outcome: "refused", reason: "LIMIT_REACHED" }]);
  });

  it.each([
    { what: "nothing", bytes: "", answer: /^$/ },
    { what: "half a head", bytes: "GET http://allo", answer: /^HTTP\/1\.1 408 / },
    { what: "half a SOCKS greeting", bytes: "\x05", answer: /^$/ },
  ])("a client that sends $what is ended after headTimeoutMs", async ({ bytes, answer }) => {
    const { proxy, decisions } = await openProxy({ limits: { headTimeoutMs: 100 } });
    const client = await dial(proxy.socket);
    if (bytes !== "") client.write(bytes);
    expect((await readAll(client)).toString("latin1")).toMatch(answer);
    expect(decisions).toMatchObject([{ outcome: "refused", reason: "LIMIT_REACHED" }]);
  });

  it("a client that sends a byte at a time gains no time by it", async () => {
    const { proxy } = await openProxy({ limits: { headTimeoutMs: 150 } });
    const client = await dial(proxy.socket);
    // Time is what is tested: bytes that come all the time, until long after the bound.
    const drip = setInterval(() => client.write("A"), 10);
    const answer = await readAll(client);
    clearInterval(drip);
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it("connections over maxConnections are ended at once, told once, and others are served later", async () => {
    const { proxy, decisions } = await openProxy({ limits: { maxConnections: 2 } });
    const held = [await dial(proxy.socket), await dial(proxy.socket)];
    await untilConnected(proxy, 2);
    for (let count = 0; count < 5; count += 1) expect((await readAll(await dial(proxy.socket))).length).toBe(0);
    expect(decisions).toMatchObject([{ protocol: "unknown", reason: "LIMIT_REACHED" }]);
    for (const client of held) client.destroy();
    await untilConnected(proxy, 0);
    expect(await exchange(proxy.socket, "GET http://other.test/ HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 403 /);
  });

  it("a tunnel without a byte for idleTimeoutMs is ended on both sides", async () => {
    const closed = latch<void>();
    const port = await listenOn(byteServer((socket) => void socket.resume().once("end", () => closed.resolve())));
    const { proxy } = await openProxy({
      allow: [{ host: "allowed.test", ports: [port] }],
      limits: { idleTimeoutMs: 1_000 },
    });
    const client = await dial(proxy.socket);
    client.write(connectTo(port));
    await readUntil(client, "\r\n\r\n");
    expect((await readAll(client)).length).toBe(0);
    await closed.promise;
  });

  it("a body that does not come is not waited for longer than idleTimeoutMs", async () => {
    const port = await listenOn(byteServer((socket) => void socket.resume()));
    const { proxy } = await openProxy({
      allow: [{ host: "allowed.test", ports: [port] }],
      limits: { idleTimeoutMs: 1_000 },
    });
    const client = await dial(proxy.socket);
    client.write(
      `POST http://allowed.test:${port}/ HTTP/1.1\r\nHost: allowed.test:${port}\r\nContent-Length: 9\r\n\r\n`,
    );
    await readAll(client);
    await untilConnected(proxy, 0);
  });
});

describe("after an answer", () => {
  it("a client that never ends is ended", async () => {
    const { proxy } = await openProxy();
    const client = await dial(proxy.socket);
    client.write("GET http://other.test/ HTTP/1.0\r\n\r\n");
    expect((await readAll(client)).toString()).toMatch(/^HTTP\/1\.1 403 /);
    expect(client.writable).toBe(true);
    await untilConnected(proxy, 0);
  });
});

describe("the socket", () => {
  it("can be used by its owner only, and is removed by close, which may be called again", async () => {
    const { proxy } = await openProxy();
    expect(statSync(proxy.socket).mode & 0o777).toBe(0o600);
    const client = await dial(proxy.socket);
    await Promise.all([proxy.close(), proxy.close(), readAll(client)]);
    expect([existsSync(proxy.socket), proxy.connections]).toEqual([false, 0]);
  });

  it("is closed with open tunnels, which end on both sides", async () => {
    const closed = latch<void>();
    const port = await listenOn(byteServer((socket) => void socket.resume().once("end", () => closed.resolve())));
    const { proxy } = await openProxy({ allow: [{ host: "allowed.test", ports: [port] }] });
    const client = await dial(proxy.socket);
    client.write(connectTo(port));
    await readUntil(client, "\r\n\r\n");
    await Promise.all([proxy.close(), closed.promise, readAll(client)]);
  });

  it.each([
    { what: "a folder that is not there", socket: (folder: string) => `${folder}/none/s` },
    { what: "a path that is taken", socket: (folder: string) => `${folder}/taken` },
  ])("is refused at $what", async ({ socket }) => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/taken`, "", { mode: 0o644 });
    const refusal = await failureOf({ socket: socket(folder), allow: [{ host: "a.test" }] });
    expect(isConfinementError(refusal) && [refusal.code, refusal.field]).toEqual(["EGRESS_SOCKET_FAILED", "socket"]);
    expect(statSync(`${folder}/taken`).mode & 0o777).toBe(0o644);
  });

  it.each([
    { what: "a relative path", options: { socket: "s" }, field: "socket" },
    { what: "a path too long for a socket", options: { socket: `/tmp/${"s".repeat(110)}` }, field: "socket" },
    { what: "a misspelled option", options: { alow: [] }, field: "alow" },
    { what: "a misspelled limit", options: { limits: { maxConnection: 1 } }, field: "limits.maxConnection" },
    { what: "a limit out of range", options: { limits: { maxConnections: 0 } }, field: "limits.maxConnections" },
    { what: "half a limit", options: { limits: { idleTimeoutMs: 1_000.5 } }, field: "limits.idleTimeoutMs" },
  ])("is refused with $what", async ({ options, field }) => {
    const refusal = await failureOf({ socket: "/tmp/s", allow: [{ host: "a.test" }], ...options });
    expect(isConfinementError(refusal) && [refusal.code, refusal.field]).toEqual(["SANDBOX_OPTION_INVALID", field]);
  });

  it("is not made when the start is aborted", async () => {
    const socket = `${temporaryFolder()}/s`;
    const reason = new Error("enough");
    expect(await failureOf({ socket, allow: [{ host: "a.test" }], signal: AbortSignal.abort(reason) })).toBe(reason);
    const ending = new AbortController();
    const failure = failureOf({ socket, allow: [{ host: "a.test" }], signal: ending.signal });
    ending.abort(reason);
    expect(await failure).toBe(reason);
    expect(existsSync(socket)).toBe(false);
  });
});

describe("a decision that cannot be recorded", () => {
  const onDecision = (): void => {
    throw new Error("the disk is full");
  };

  it("lets nothing through", async () => {
    let bytes = 0;
    const closed = latch<void>();
    const port = await listenOn(
      byteServer((socket) =>
        socket
          .on("data", (chunk) => (bytes += chunk.length))
          .once("close", () => closed.resolve())
          .once("end", () => socket.end()),
      ),
    );
    const { proxy } = await openProxy({ allow: [{ host: "allowed.test", ports: [port] }], onDecision });
    expect(await exchange(proxy.socket, `${connectTo(port)}secret`)).toBe("");
    await closed.promise;
    expect(bytes).toBe(0);
  });

  it("ends a refused connection, and the proxy goes on", async () => {
    const { proxy } = await openProxy({ onDecision });
    expect(await exchange(proxy.socket, connectTo(81))).toBe("");
    expect(await exchange(proxy.socket, connectTo(81))).toBe("");
  });
});

async function failureOf(options: EgressOptions): Promise<unknown> {
  try {
    await using _ = await createEgressProxy(options);
  } catch (error) {
    return error;
  }
  return undefined;
}
