import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { handshake, startRawClient } from "./acceptance/raw-client.js";
import { bin, gateway, workplace } from "./gateway.js";

const server = fileURLToPath(new URL("../bench/servers/raw-echo-server.mjs", import.meta.url));
const residentMb = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
/** What is loaded with a file, as far as no step asks for more. */
function loadedWith(file: string): readonly string[] {
  const named = [...readFileSync(`${dist}${file}`, "utf8").matchAll(/^(?:import|export)\b[^;(]*?"([^"]+)";$/gmu)];
  return named.flatMap(([, name = ""]) => (name.startsWith("./") ? loadedWith(name.slice(2)) : [name]));
}

describe("the start of a gateway", () => {
  it("loads nothing of plugins before a configuration names some", () => {
    const starts = readdirSync(dist).filter((file) => /^(?:main|run-|serve-|doctor-).*\.js$/u.test(file));
    expect(starts.length).toBeGreaterThan(3);
    const loaded = starts.flatMap(loadedWith);
    expect(loaded).toContain("@berth/mcp-relay");
    expect(loaded.filter((name) => /venv-host|process-confinement|yaml|zod/u.test(name))).toEqual([]);
  });
});

describe("the memory of a session", () => {
  // The gateway settles near 100 MB here, half of which is the bare runtime; left to V8 it passes 165.
  it("stays small after many small calls and many large results", async () => {
    await using place = await workplace();
    await place.writeCatalog({ echo: { transport: "stdio", spawn: { command: process.execPath, args: [server] } } });
    const common = ["--catalog", place.catalog, "--state", place.state];
    expect(await gateway(["pin", ...common, "--yes"])).toMatchObject({ code: 0 });
    await using client = startRawClient(process.execPath, [bin, "serve", ...common, "--stdio"]);
    await handshake(client);
    const call = (name: string, given: object): Promise<string> =>
      client.request("tools/call", { name, arguments: given });
    for (let round = 0; round < 250; round += 1) {
      await Promise.all(Array.from({ length: 64 }, () => call("echo__echo", { text: "small" })));
    }
    for (let round = 0; round < 60; round += 1) {
      expect((await call("echo__repeat", { bytes: 1_048_576 })).length).toBeGreaterThan(1_048_576);
    }
    expect(residentMb(client.process.pid)).toBeLessThan(130);
    expect(await client.end()).toBe(0);
  });
});
