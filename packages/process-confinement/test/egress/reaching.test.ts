import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createEgressProxy, type EgressReason } from "../../src/egress/index.js";
import { startEgressProxy } from "../../src/egress/proxy.js";
import {
  byteServer,
  dial,
  exchange,
  latch,
  listenOn,
  openProxy,
  portOf,
  socksConnect,
  temporaryFolder,
} from "./harness.js";

const request = (host: string, port: number) => ({
  connect: `CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`,
  http: `GET http://${host}:${port}/ HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`,
  socks5: socksConnect(host, port),
});
const replies = { connect: "HTTP/1.1 ", http: "HTTP/1.1 ", socks5: "\x05\0\x05" };
const names = ["connect", "http", "socks5"] as const;

/** A port of the loopback where nobody listens. */
async function deadPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const port = portOf(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe.each(names)("by %s", (protocol) => {
  const check = async (
    options: Parameters<typeof openProxy>[0],
    host: string,
    port: number,
    expected: { outcome: string; reason: EgressReason; status: number; reply: number },
  ): Promise<void> => {
    const { proxy, decisions } = await openProxy(options);
    const answer = await exchange(proxy.socket, request(host, port)[protocol]);
    const { outcome, reason, status, reply } = expected;
    expect(answer.startsWith(replies[protocol])).toBe(true);
    expect(protocol === "socks5" ? answer.charCodeAt(3) : Number(answer.slice(9, 12))).toBe(
      protocol === "socks5" ? reply : status,
    );
    expect(decisions).toEqual([{ protocol, host, port, outcome, reason, address: undefined }]);
    if (protocol !== "socks5") expect(answer).toContain(`x-berth-egress: ${reason}\r\n`);
  };

  it("a host that is not listed is refused before its name is told to a resolver", async () => {
    const resolve = () => Promise.reject(new Error("must not be asked"));
    const expected = { outcome: "refused", reason: "HOST_NOT_ALLOWED", status: 403, reply: 2 } as const;
    await check({ resolve }, "other.test", 80, expected);
  });

  it("a port that is not listed is refused", async () => {
    const expected = { outcome: "refused", reason: "PORT_NOT_ALLOWED", status: 403, reply: 2 } as const;
    await check({}, "allowed.test", 81, expected);
  });

  it.each([["10.0.0.1"], ["127.0.0.1", "169.254.169.254"], ["::1"], ["::ffff:10.0.0.1"]])(
    "a host with an address that is not public is refused, whatever else it has: %s",
    async (...addresses) => {
      const expected = { outcome: "refused", reason: "PRIVATE_ADDRESS", status: 403, reply: 2 } as const;
      await check({ resolve: async () => addresses }, "allowed.test", 80, expected);
    },
  );

  it.each([
    { what: "fails", resolve: () => Promise.reject(new Error("no such name")) },
    {
      what: "throws",
      resolve: () => {
        throw new Error("broken");
      },
    },
    { what: "finds nothing", resolve: async () => [] },
    { what: "answers with another name", resolve: async () => ["evil.test"] },
  ])("a host whose resolver $what is not resolved", async ({ resolve }) => {
    const expected = { outcome: "failed", reason: "RESOLUTION_FAILED", status: 502, reply: 4 } as const;
    await check({ resolve }, "allowed.test", 80, expected);
  });

  it("a resolver that never answers is waited for in bounds, and told to stop", async () => {
    let stopped = false;
    const resolve = (_: string, signal: AbortSignal) =>
      new Promise<never>(() => signal.addEventListener("abort", () => (stopped = true)));
    const expected = { outcome: "failed", reason: "RESOLUTION_FAILED", status: 502, reply: 4 } as const;
    await check({ resolve, limits: { connectTimeoutMs: 100 } }, "allowed.test", 80, expected);
    expect(stopped).toBe(true);
  });

  it("a host that does not answer is told as such", async () => {
    const port = await deadPort();
    const expected = { outcome: "failed", reason: "CONNECT_FAILED", status: 502, reply: 5 } as const;
    await check({ allow: [{ host: "allowed.test", ports: [port] }] }, "allowed.test", port, expected);
  });
});

describe("resolving", () => {
  it("happens once, and the connection goes to the address that was checked", async () => {
    const asked: string[] = [];
    let accepted = 0;
    const port = await listenOn(
      byteServer((socket) => {
        accepted += 1;
        socket.resume().end();
      }),
    );
    const { proxy, decisions } = await openProxy({
      allow: [{ host: "*.rebind.test", ports: [port] }],
      resolve: async (host) => (asked.push(host) === 1 ? ["127.0.0.1"] : ["10.0.0.1"]),
    });
    await exchange(proxy.socket, request("a.rebind.test", port).connect);
    expect([asked, accepted]).toEqual([["a.rebind.test"], 1]);
    await exchange(proxy.socket, request("a.rebind.test", port).connect);
    expect([asked.length, accepted]).toEqual([2, 1]);
    expect(decisions.map(({ reason, address }) => [reason, address])).toEqual([
      [undefined, "127.0.0.1"],
      ["PRIVATE_ADDRESS", undefined],
    ]);
  });

  it("is asked for the name as it was compared", async () => {
    const asked: string[] = [];
    const { proxy } = await openProxy({
      allow: [{ host: "xn--bcher-kva.test", ports: [80] }],
      resolve: async (host) => {
        asked.push(host);
        return [];
      },
    });
    await exchange(proxy.socket, request("BÜCHER.test.", 80).connect);
    expect(asked).toEqual(["xn--bcher-kva.test"]);
  });

  it("of many names at once is done two at a time", async () => {
    const two = latch<void>();
    let running = 0;
    let most = 0;
    const resolve = async (): Promise<readonly string[]> => {
      running += 1;
      most = Math.max(most, running);
      if (running === 2) two.resolve();
      await two.promise;
      running -= 1;
      return [];
    };
    const { proxy, decisions } = await openProxy({ resolve });
    await Promise.all(Array.from({ length: 20 }, () => exchange(proxy.socket, request("allowed.test", 80).connect)));
    expect([most, decisions.length]).toEqual([2, 20]);
  });

  it("of one name that takes for ever holds up no other", async () => {
    const asked = latch<void>();
    const resolve = async (host: string): Promise<readonly string[]> => {
      if (host !== "slow.test") return [];
      asked.resolve();
      return new Promise(() => {});
    };
    const allow = ["slow.test", "allowed.test"].map((host) => ({ host, ports: [80] }));
    const { proxy } = await openProxy({ allow, resolve });
    const slow = await dial(proxy.socket);
    slow.write(request("slow.test", 80).connect);
    await asked.promise;
    const answers = Array.from({ length: 10 }, () => exchange(proxy.socket, request("allowed.test", 80).connect));
    for (const answer of await Promise.all(answers)) expect(answer).toContain("RESOLUTION_FAILED");
    expect(slow.readableLength).toBe(0);
  });

  it("of more names than may wait is refused, and the others are resolved", async () => {
    const gate = latch<void>();
    const resolve = async (): Promise<readonly string[]> => {
      await gate.promise;
      return [];
    };
    const { proxy, decisions } = await openProxy({ resolve, limits: { maxConnections: 200 } });
    const asked = Array.from({ length: 130 }, () => exchange(proxy.socket, request("allowed.test", 80).connect));
    await expect.poll(() => decisions.length, { timeout: 20_000 }).toBe(2);
    gate.resolve();
    await Promise.all(asked);
    const reasons = decisions.map(({ reason }) => reason);
    expect(reasons).toEqual(["LIMIT_REACHED", "LIMIT_REACHED", ...Array(128).fill("RESOLUTION_FAILED")]);
  });

  it("to more than four addresses tries four of them", async () => {
    const port = await deadPort();
    const listener = createServer((socket) => void socket.resume().end());
    await new Promise<void>((resolve) => listener.listen(port, "127.0.0.1", resolve));
    onTestFinished(() => void listener.close());
    const [others, own] = [["127.0.0.2", "127.0.0.3", "127.0.0.4"], "127.0.0.1"];
    for (const { addresses, answer } of [
      { addresses: [...others, own], answer: "200 Connection established" },
      { addresses: [...others, "127.0.0.5", own], answer: "CONNECT_FAILED" },
    ]) {
      await using proxy = await startEgressProxy(
        {
          socket: `${temporaryFolder()}/s`,
          allow: [{ host: "allowed.test", ports: [port] }],
          resolve: async () => addresses,
        },
        () => true,
      );
      expect(await exchange(proxy.socket, request("allowed.test", port).connect)).toContain(answer);
    }
  });

  it("by the system reaches no loopback, with the check that is in use", async () => {
    const reasons: unknown[] = [];
    await using proxy = await createEgressProxy({
      socket: `${temporaryFolder()}/s`,
      allow: [{ host: "localhost", ports: [80] }],
      onDecision: ({ reason }) => void reasons.push(reason),
    });
    expect(await exchange(proxy.socket, request("localhost", 80).connect)).toMatch(/^HTTP\/1\.1 (403|502) /);
    expect(["PRIVATE_ADDRESS", "RESOLUTION_FAILED"]).toContain(reasons[0]);
  });
});
