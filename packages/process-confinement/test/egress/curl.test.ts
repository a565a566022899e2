import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createWebServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, createServer, type Socket } from "node:net";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { listenOn, type OpenProxy, openProxy, temporaryFolder } from "./harness.js";

/** What a forwarder inside a sandbox does: a loopback port that leads to the proxy's socket. */
function openForwarder(path: string): Promise<number> {
  return listenOn(
    createServer({ allowHalfOpen: true }, (near: Socket) => {
      const far = connect({ path, allowHalfOpen: true });
      near.on("error", () => far.destroy()).pipe(far);
      far.on("error", () => near.destroy()).pipe(near);
    }),
  );
}

interface Told {
  readonly code: number | null;
  readonly out: string;
}

/** Runs curl with nothing of this user's configuration. */
function curl(args: readonly string[]): Promise<Told> {
  const child = spawn("curl", ["-q", "--silent", "--max-time", "10", ...args], {
    env: {},
    stdio: ["ignore", "pipe", "ignore"],
  });
  let out = "";
  child.stdout.on("data", (chunk) => (out += chunk));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out })));
}

/** A certificate for allowed.test, made for this test. */
function makeCertificate(folder: string): { key: string; cert: string; file: string } {
  const file = `${folder}/cert.pem`;
  const subject = ["-subj", "/CN=allowed.test", "-addext", "subjectAltName=DNS:allowed.test"];
  const making = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  execFileSync("openssl", [...making, ...subject, "-keyout", `${folder}/key.pem`, "-out", file], { stdio: "ignore" });
  return { key: readFileSync(`${folder}/key.pem`, "utf8"), cert: readFileSync(file, "utf8"), file };
}

async function open(port: number): Promise<OpenProxy & { forwarder: number }> {
  const opened = await openProxy({ allow: [{ host: "allowed.test", ports: [port] }] });
  return { ...opened, forwarder: await openForwarder(opened.proxy.socket) };
}

describe("curl", () => {
  partTest("curl", "openssl")("reaches an allowed host over TLS, which is between it and the host", async () => {
    const { key, cert, file } = makeCertificate(temporaryFolder());
    const port = await listenOn(createTlsServer({ key, cert }, (_, response) => response.end("over TLS")));
    const { forwarder, decisions } = await open(port);
    for (const scheme of ["http", "socks5h"]) {
      const args = ["--proxy", `${scheme}://127.0.0.1:${forwarder}`, "--cacert", file, `https://allowed.test:${port}/`];
      expect(await curl(args)).toEqual({ code: 0, out: "over TLS" });
    }
    expect(decisions.map(({ protocol, outcome }) => [protocol, outcome])).toEqual([
      ["connect", "allowed"],
      ["socks5", "allowed"],
    ]);
  });

  partTest("curl")("reaches an allowed host over plain HTTP, and sends it files", async () => {
    const bodies: number[] = [];
    const server = createWebServer(async (request, response) => {
      let size = 0;
      for await (const piece of request) size += piece.length;
      bodies.push(size);
      response.end(`${request.method} ${request.url}`);
    });
    const port = await listenOn(server);
    const { forwarder } = await open(port);
    const proxy = ["--proxy", `http://127.0.0.1:${forwarder}`];
    expect(await curl([...proxy, `http://allowed.test:${port}/a?b`])).toEqual({ code: 0, out: "GET /a?b" });
    const file = `${temporaryFolder()}/upload`;
    writeFileSync(file, Buffer.alloc(2_000_000));
    const upload = [...proxy, "--upload-file", file, `http://allowed.test:${port}/up`];
    expect(await curl(upload)).toEqual({ code: 0, out: "PUT /up" });
    const chunked = [...upload, "--header", "Transfer-Encoding: chunked"];
    expect(await curl(chunked)).toEqual({ code: 0, out: "PUT /up" });
    expect(bodies).toEqual([0, 2_000_000, 2_000_000]);
  });

  partTest("curl")("is told why it may not", async () => {
    const { forwarder } = await open(443);
    const proxy = ["--proxy", `http://127.0.0.1:${forwarder}`];
    expect(await curl([...proxy, "http://other.test/"])).toEqual({
      code: 0,
      out: "HOST_NOT_ALLOWED: other.test is not in the allow list\n",
    });
    // 56: the tunnel was refused (7.88 and later); 97: the SOCKS handshake was.
    expect((await curl([...proxy, "https://other.test/"])).code).toBe(56);
    expect((await curl(["--proxy", `socks5h://127.0.0.1:${forwarder}`, "https://other.test/"])).code).toBe(97);
    expect((await curl(["--proxy", `socks5://127.0.0.1:${forwarder}`, "https://127.0.0.1/"])).code).toBe(97);
    expect((await curl(["--proxy", `socks4a://127.0.0.1:${forwarder}`, "https://allowed.test/"])).code).not.toBe(0);
  });
});
