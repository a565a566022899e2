import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { modernMetaKeys } from "../src/protocol.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const text = (name: string): string => readFileSync(`${root}${name}`, "utf8");
const manifest = JSON.parse(text("package.json"));

describe("the built package", () => {
  it("exports what it lists, and nothing else", async () => {
    expect(Object.keys(await import("@berth/mcp-server")).sort()).toEqual([
      "RegistrationError",
      "ResultError",
      "RpcError",
      "createMcpServer",
      "defineTool",
      "isRpcError",
      "pipelineTool",
      "toolsFor",
    ]);
    expect(Object.keys(await import("@berth/mcp-server/protocol")).sort()).toEqual([
      "EraError",
      "decideEra",
      "isEraError",
      "isLegacyRevision",
      "isModernRevision",
      "legacyRevisions",
      "mcpErrors",
      "modernMetaKeys",
      "modernRevisions",
      "negotiateRevision",
    ]);
    expect(Object.keys(await import("@berth/mcp-server/stdio"))).toEqual(["serveStdio"]);
    expect(Object.keys(await import("@berth/mcp-server/http")).sort()).toEqual([
      "createHttpHandler",
      "createMemoryEventStore",
      "serveHttp",
    ]);
    expect(Object.keys(await import("@berth/mcp-server/auth")).sort()).toEqual([
      "AuthError",
      "createBearerAdmitter",
      "createJwtVerifier",
      "createToken",
      "firstOf",
      "isAuthError",
      "openTokenFile",
    ]);
    expect(Object.keys(await import("@berth/mcp-server/tasks")).sort()).toEqual([
      "TaskStoreError",
      "createMemoryTaskStore",
      "isTaskStoreError",
    ]);
    expect(Object.keys(await import("@berth/mcp-server/contracts")).sort()).toEqual([
      "eventStoreContract",
      "taskStoreContract",
    ]);
    expect(Object.keys(await import("@berth/mcp-server/opentelemetry"))).toEqual(["createOpenTelemetry"]);
    expect(Object.keys(await import("@berth/mcp-server/json-schema")).sort()).toEqual([
      "SchemaError",
      "compileSchema",
      "createSchemaCompiler",
      "isSchemaError",
    ]);
  });

  it("packs every file that its exports name", () => {
    for (const target of Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === "string" ? [entry] : Object.values(entry ?? {}),
    )) {
      const name = String(target).replace(/^\.\//, "");
      expect(existsSync(`${root}${name}`)).toBe(true);
      expect(
        ["package.json", ...manifest.files].some((file: string) => name === file || name.startsWith(`${file}/`)),
      ).toBe(true);
    }
  });
});

describe("the README", () => {
  it("holds the quickstart word for word, and the quickstart runs", () => {
    expect(text("README.md")).toContain(text("examples/quickstart.js").trim());
    const _meta = { [modernMetaKeys.protocolVersion]: "2026-07-28", [modernMetaKeys.clientCapabilities]: {} };
    const params = { name: "greet", arguments: { name: "Ada" }, _meta };
    const input = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`;
    const run = spawnSync(process.execPath, [`${root}examples/quickstart.js`], { encoding: "utf8", input });
    expect([run.status, run.stderr]).toEqual([0, ""]);
    expect(JSON.parse(run.stdout)).toMatchObject({
      id: 1,
      result: { content: [{ type: "text", text: "Hello, Ada!" }] },
    });
  });

  it("holds the example for stores word for word, and the stores of this package pass it under node --test", () => {
    const name = "examples/store-contracts.js";
    expect(text("README.md")).toContain(text(name).trim());
    const run = spawnSync(process.execPath, ["--test", "--test-reporter=tap", `${root}${name}`], { encoding: "utf8" });
    expect([run.status, Number(/^# pass (\d+)$/m.exec(run.stdout)?.[1])]).toEqual([0, 35]);
  });

  it("is not the only example: the one with zod runs too", () => {
    const _meta = { [modernMetaKeys.protocolVersion]: "2026-07-28", [modernMetaKeys.clientCapabilities]: {} };
    const params = { name: "greet", arguments: { name: " Ada ", times: 2 }, _meta };
    const input = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`;
    const run = spawnSync(process.execPath, [`${root}examples/zod.js`], { encoding: "utf8", input });
    expect(JSON.parse(run.stdout)).toMatchObject({ result: { content: [{ text: "Hello, Ada! Hello, Ada!" }] } });
  });

  it("names a test that exists for each guarantee, and every error code", () => {
    for (const [name] of text("README.md").matchAll(/\btest\/[a-z./-]+\.test\.ts\b/g))
      expect(existsSync(`${root}${name}`)).toBe(true);
    const sources = text("src/errors.ts") + text("src/json-schema/errors.ts") + text("src/auth/errors.ts");
    const codes = [...sources.matchAll(/"([A-Z]+(?:_[A-Z]+)+)"/g)].map(([, code]) => code);
    expect(codes.length).toBeGreaterThanOrEqual(4);
    for (const code of codes) expect(text("README.md")).toContain(`\`${code}\``);
  });
});
