import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { namesServed } from "../../src/http/names-served.js";
import { type Served, serve } from "./support/served.js";

let folder: string;
let served: Served;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-page-"));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), "<!doctype html><title>page</title>");
  await writeFile(join(folder, "assets", "page.js"), "1;");
  served = await serve({
    sessions: { limits: { warmWorkers: 0 } },
    doors: { allowedHosts: ["Sandbox.Example.com"], pageFolder: folder },
  });
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const hosts = [
  ["localhost", true],
  ["LOCALHOST:8222", true],
  ["127.0.0.1:1", true],
  ["[::1]:8222", true],
  ["coderunner.local:8222", true],
  ["0.0.0.0:8222", true],
  ["sandbox.example.com:443", true],
  ["evil.example.com", false],
  ["localhost.evil.example.com", false],
  ["localhost:8222.evil.example.com", false],
  ["evil@localhost", false],
  ["localhost.", false],
  ["", false],
] as const;
const origins = [
  ["http://localhost:3000", true],
  ["https://sandbox.example.com", true],
  ["http://[::1]:5173", true],
  ["null", false],
  ["http://evil.example.com", false],
  ["http://localhost.evil.example.com", false],
  ["http://user@localhost", false],
  ["http://localhost/path", false],
  ["http://localhost?x", false],
  ["http://localhost#x", false],
  ["file://localhost", false],
  ["localhost", false],
] as const;

describe.each(["/mcp", "/execute", "/v1/sessions/session", "/v1/execute", "/health", "/metrics", "/openapi.json", "/"])(
  "%s",
  (path) => {
    it("is refused under any other name, and to pages of any other", async () => {
      for (const [host, isServed] of hosts) {
        const { status } = await served.send(path, { headers: { host } });
        expect([host, status === 403]).toEqual([host, !isServed]);
      }
      for (const [origin, isServed] of origins) {
        const answer = await served.send(path, { headers: { origin } });
        expect([origin, answer.status === 403]).toEqual([origin, !isServed]);
        if (!isServed) expect(await answer.json()).toEqual({ error: "this Origin is not allowed" });
      }
    });
  },
);

it("every operation that is described is refused under another name", async () => {
  expect(served.described.operations.length).toBeGreaterThan(20);
  for (const operation of served.described.operations) {
    const [method = "", path = ""] = operation.split(" ");
    const at = path.replace(/\{\w+\}/g, "x");
    const { status } = await served.send(at, { method, headers: { host: "evil.example.com" } });
    expect([operation, status]).toEqual([operation, 403]);
  }
});

it.each(["https://example.com", "example.com:80", "a b", "", "*", "example..com/"])(
  "%j is no name to allow",
  (name) => {
    expect(() => namesServed([name])).toThrow(TypeError);
  },
);

describe("a browser's word on where a request comes from", () => {
  it.each([
    ["cross-site", 403],
    ["same-site", 403],
    ["anything else", 403],
    ["same-origin", 200],
    ["none", 200],
  ])("%s: what changes something is answered with %i, and what only reads is not asked", async (site, status) => {
    const headers = { "sec-fetch-site": site, origin: "http://localhost:3000" };
    expect((await served.post("/execute", { code: "1" }, headers)).status).toBe(status);
    expect((await served.get("/v1/sessions", headers)).status).toBe(200);
  });
});

describe("the page", () => {
  it("is its built files, which nothing else may frame, and no other file", async () => {
    const index = await served.send("/");
    expect([index.status, await index.text()]).toEqual([200, "<!doctype html><title>page</title>"]);
    expect(index.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect((await served.send("/assets/page.js")).headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    for (const path of ["/assets", "/assets/..%2f..%2fetc%2fpasswd", "/..%2f..%2fetc/passwd", "/none.js"]) {
      expect((await served.send(path)).status).toBe(404);
    }
  });

  it("is not found where none was built", async () => {
    await using without = await serve({
      sessions: { limits: { warmWorkers: 0 } },
      doors: { pageFolder: join(folder, "not-there") },
    });
    expect((await without.send("/")).status).toBe(404);
  });
});
