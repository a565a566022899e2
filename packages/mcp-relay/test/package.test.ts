import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const text = (name: string): string => readFileSync(`${root}${name}`, "utf8");
const manifest = JSON.parse(text("package.json"));
const sources = (folder: string): string[] =>
  readdirSync(`${root}${folder}`, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? sources(join(folder, entry.name)) : [join(folder, entry.name)],
  );

describe("the built package", () => {
  it("exports what it lists, and nothing else", async () => {
    expect(Object.keys(await import("@berth/mcp-relay")).sort()).toEqual([
      "RelayError",
      "addServers",
      "canonicalDefinition",
      "catalogName",
      "compareDefinitions",
      "compileTemplate",
      "createRelaySession",
      "definitionDigest",
      "describeDefinitionChange",
      "describeTextChange",
      "emptyCatalog",
      "exposedName",
      "importClientConfig",
      "inspectServer",
      "isRelayError",
      "readCatalog",
      "readDefinition",
      "relayErrors",
      "resolveEnvironment",
      "visibleText",
      "writePins",
    ]);
  });

  it("packs every file that its exports name", () => {
    const targets: unknown[] = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === "string" ? [entry] : Object.values(entry ?? {}),
    );
    for (const target of targets) {
      const name = String(target).replace(/^\.\//, "");
      expect(existsSync(`${root}${name}`)).toBe(true);
      const packed = ["package.json", ...manifest.files];
      expect(packed.some((file: string) => name === file || name.startsWith(`${file}/`))).toBe(true);
    }
  });
});

describe("the README", () => {
  it("holds the quickstart word for word, and the quickstart serves a client", () => {
    expect(text("README.md")).toContain(text("examples/quickstart.js").trim());
    const lines = [
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      "",
    ];
    const server = fileURLToPath(new URL("../../../fixtures/servers/echo.mjs", import.meta.url));
    const run = spawnSync(process.execPath, [`${root}examples/quickstart.js`, server], {
      encoding: "utf8",
      input: lines.join("\n"),
    });
    expect([run.status, run.stderr]).toEqual([0, ""]);
    expect(JSON.parse(run.stdout).result.serverInfo).toEqual({ name: "my-gateway", version: "1.0.0" });
  });

  it("shows a server and a client that get what it says from the quickstart", async () => {
    expect(text("README.md")).toContain(text("examples/hello-server.js").trim());
    const client = /as `client\.jsonl`:\n\n```json\n(.*?)```/su.exec(text("README.md"))?.[1] ?? "";
    const relay = spawn(process.execPath, [`${root}examples/quickstart.js`, `${root}examples/hello-server.js`]);
    const output: string[] = [];
    const recorded: string[] = [];
    createInterface({ input: relay.stderr }).on("line", (line) => recorded.push(line.trim()));
    createInterface({ input: relay.stdout }).on("line", (line) => {
      output.push(line);
      if (output.length === 3) relay.stdin.end();
    });
    relay.stdin.write(client);
    const [code] = await once(relay, "close", { signal: AbortSignal.timeout(20_000) });
    expect(code).toBe(0);
    expect(output).toContain('{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"hello"}]}}');
    expect(output.join("\n")).toContain('"name":"demo__hello"');
    expect(recorded).toEqual(["call.intent demo hello", "call.outcome demo hello", "child.exit demo"]);
  });

  it("names every value that the package exports", async () => {
    for (const name of Object.keys(await import("@berth/mcp-relay"))) expect(text("README.md")).toContain(`\`${name}`);
  });

  it("names a test that exists for each guarantee", () => {
    const named = [...text("README.md").matchAll(/\btest\/[a-z.-]+\.test\.ts\b/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(20);
    for (const name of named) expect(existsSync(`${root}${name}`)).toBe(true);
  });

  it("lists every error code, reason and notice that the sources have", () => {
    const readme = text("README.md");
    for (const file of ["src/errors.ts", "src/wire-errors.ts"]) {
      for (const [, code] of text(file).matchAll(/^ {2}\| "([A-Z_]+)"/gm)) expect(readme).toContain(`\`${code}\``);
    }
    for (const file of sources("src")) {
      for (const [, code] of text(file).matchAll(/notice\((?:\{ code: )?"([A-Z_]+)"/g))
        expect(readme).toContain(`\`${code}\``);
    }
  });
});
