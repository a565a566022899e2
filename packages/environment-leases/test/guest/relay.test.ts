import { once } from "node:events";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import type { DisposableEnvironment, ResourceRequest } from "../../src/index.js";
import { kinds, openProvider, type ProviderKind, text, workerName } from "./provider-kinds.js";

// Raw, so that it can say what no good server says.
const server = `
import socket, sys, threading
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("up", flush=True)
def serve(client):
    with client:
        head = b""
        while b"\\r\\n\\r\\n" not in head:
            head += client.recv(65536)
        head, _, body = head.partition(b"\\r\\n\\r\\n")
        lines = head.decode().split("\\r\\n")
        length = next((int(l.split(":")[1]) for l in lines if l.startswith("content-length")), 0)
        while len(body) < length:
            body += client.recv(65536)
        method, path, _ = lines[0].split(" ")
        say = lambda text: client.sendall(text if isinstance(text, bytes) else text.encode())
        if path.startswith("/echo"):
            told = repr((method, path, sorted(lines[1:]), len(body))).encode()
            say(f"HTTP/1.1 200 Fine\\r\\nX-One: a\\r\\nX-One: b\\r\\nSet-Cookie: s=1\\r\\nConnection: x-hop\\r\\nX-Hop: 1\\r\\nKeep-Alive: 1\\r\\nContent-Length: {len(told)}\\r\\n\\r\\n")
            say(b"" if method == "HEAD" else told)
        elif path == "/move": say("HTTP/1.1 302 Found\\r\\nLocation: http://example.org/\\r\\nContent-Length: 0\\r\\n\\r\\n")
        elif path == "/chunked": say("HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n5\\r\\nhello\\r\\n0\\r\\n\\r\\n")
        elif path == "/big": say(f"HTTP/1.1 200 OK\\r\\nContent-Length: {9 << 20}\\r\\n\\r\\n"); say(bytes(9 << 20))
        elif path == "/most": say(f"HTTP/1.1 200 OK\\r\\nContent-Length: {8 << 20}\\r\\n\\r\\n"); say(bytes(8 << 20))
        elif path == "/noise": say("what? not HTTP at all\\r\\n\\r\\n")
        elif path == "/cut": say("HTTP/1.1 200 OK\\r\\nContent-Length: 100\\r\\n\\r\\nshort")
        elif path == "/head": say("HTTP/1.1 200 OK\\r\\n" + "X-Y: z\\r\\n" * 100000)
        elif path == "/interim": say("HTTP/1.1 103 Early Hints\\r\\n\\r\\n" * 1000)
        elif path == "/upgrade": say("HTTP/1.1 101 Switching\\r\\nUpgrade: odd\\r\\nConnection: upgrade\\r\\n\\r\\n")
        elif path == "/silent": threading.Event().wait()
def guarded(client):
    try: serve(client)
    except OSError: pass
while True:
    threading.Thread(target=guarded, args=(listener.accept()[0],), daemon=True).start()
`;

const ports = { unconfined: 47_611, bubblewrap: 8080 } as const;

async function withServer(
  kind: ProviderKind,
  run: (
    request: (request: Partial<ResourceRequest>) => ReturnType<DisposableEnvironment["requestResource"]>,
  ) => Promise<void>,
): Promise<void> {
  const port = kind.name === "unconfined" ? ports.unconfined : ports.bubblewrap;
  await using opened = await openProvider(kind);
  const profile = kind.profile({ exposeResources: true, exposedPorts: [port, port + 1] });
  await using environment = await opened.provider.create(workerName(), profile, { deadlineMs: 60_000 });
  await using serving = await environment.open(["python3", "-c", server, String(port)]);
  await once(serving.stream, "data");
  await run((request) => environment.requestResource({ port, method: "GET", path: "/echo", ...request }));
}

describe.each(kinds)("requests to the loopback of a $name environment", (kind) => {
  const test = partTest(...kind.parts);

  test("are answered with status, headers and body, without what is about the connection, and without cookies", () =>
    withServer(kind, async (request) => {
      const got = await request({ path: "/echo?a=b" });
      expect(got.status).toBe(200);
      expect(got.headers.filter(([name]) => name !== "Content-Length")).toEqual([
        ["X-One", "a"],
        ["X-One", "b"],
      ]);
      expect(text(got.body)).toMatch(/^\('GET', '\/echo\?a=b', \['Host: 127.0.0.1:\d+'|^\('GET'/);
      const body = Buffer.alloc(1024 * 1024, "x");
      const put = await request({ method: "PUT", body, contentType: 'text/plain; charset="utf-8"' });
      expect(text(put.body)).toContain('content-type: text/plain; charset="utf-8"');
      expect(text(put.body)).toMatch(/1048576\)$/);
      expect(await request({ method: "HEAD" })).toMatchObject({ status: 200, body: Buffer.alloc(0) });
      expect(text((await request({ path: "/chunked" })).body)).toBe("hello");
      expect((await request({ path: "/most" })).body).toHaveLength(8 * 1024 * 1024);
    }));

  test("do not follow redirects", () =>
    withServer(kind, async (request) => {
      const got = await request({ path: "/move" });
      expect(got).toMatchObject({
        status: 302,
        headers: expect.arrayContaining([["Location", "http://example.org/"]]),
      });
    }));

  test("fail for servers that do not speak HTTP, or too much of it", () =>
    withServer(kind, async (request) => {
      for (const path of ["/big", "/noise", "/cut", "/head", "/interim", "/upgrade"]) {
        await expect(request({ path }), path).rejects.toMatchObject({ code: "RELAY_FAILED" });
      }
      const port = kind.name === "unconfined" ? ports.unconfined : ports.bubblewrap;
      await expect(request({ port: port + 1 })).rejects.toMatchObject({ code: "RELAY_FAILED" });
      expect((await request({})).status).toBe(200);
    }));

  test("stop waiting when told", () =>
    withServer(kind, async (request) => {
      const abort = new AbortController();
      const waiting = request({ path: "/silent", signal: abort.signal });
      abort.abort("enough");
      await expect(waiting).rejects.toBe("enough");
    }));

  test("are refused unless they are what was granted", () =>
    withServer(kind, async (request) => {
      const refused: readonly Partial<ResourceRequest>[] = [
        { port: 22 },
        ...[
          "",
          "echo",
          "//host/",
          "/\\host",
          "http://x/",
          "/a b",
          "/a\r\nX: y",
          "/a\0",
          "/ä",
          `/${"a".repeat(8192)}`,
        ].map((path) => ({ path })),
        { body: Buffer.alloc(1024 * 1024 + 1), contentType: "text/plain" },
        { body: Buffer.alloc(1) },
        ...["text", "text/plain\r\nX: y", "text/plain; x", "te xt/plain"].map((contentType) => ({
          body: Buffer.alloc(1),
          contentType,
        })),
      ];
      for (const each of refused) {
        await expect(request(each), JSON.stringify(each.path)).rejects.toMatchObject({ code: "REQUEST_REFUSED" });
      }
    }));

  test("are refused without the grant", async () => {
    await using opened = await openProvider(kind);
    await using environment = await opened.provider.create(workerName(), kind.profile(), { deadlineMs: 60_000 });
    const asked = environment.requestResource({ port: 80, method: "GET", path: "/" });
    await expect(asked).rejects.toMatchObject({ code: "EXPOSURE_NOT_GRANTED" });
  });
});
