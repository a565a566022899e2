import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const text = (name: string): string => readFileSync(`${root}${name}`, "utf8");
const manifest = JSON.parse(text("package.json"));

describe("the built package", () => {
  it("exports what it lists, and nothing else", async () => {
    expect(Object.keys(await import("@berth/jsonrpc-framing")).sort()).toEqual([
      "FramingError",
      "checkFrame",
      "createHeaderDecoder",
      "createLineDecoder",
      "createPendingCalls",
      "encodeHeaderFrame",
      "encodeLine",
      "isFramingError",
      "parseMessage",
      "readMember",
      "readMessage",
      "readScalar",
      "readString",
      "replaceId",
      "scanEnvelope",
      "spanType",
      "splice",
      "splitArray",
      "splitObject",
      "systemScheduler",
      "wireErrors",
    ]);
  });

  it("packs every file that its exports name", () => {
    const targets: unknown[] = Object.values(manifest.exports).flatMap((target) =>
      typeof target === "string" ? [target] : Object.values(target ?? {}),
    );
    for (const target of targets) {
      const name = String(target).replace(/^\.\//, "");
      expect(existsSync(`${root}${name}`)).toBe(true);
      const packed = ["package.json", ...manifest.files];
      expect(packed.some((file: string) => name === file || name.startsWith(`${file}/`))).toBe(true);
    }
  });

  it("depends on nothing, and does no I/O: of Node's modules it imports only node:buffer", () => {
    expect(manifest.dependencies).toBeUndefined();
    expect(manifest.peerDependencies).toBeUndefined();
    const imports = [...text("dist/index.js").matchAll(/\b(?:from|import|require)\s*\(?"([^"]+)"/g)].map(
      ([, name]) => name,
    );
    expect(imports).toEqual(["node:buffer"]);
  });
});

describe("the README", () => {
  it("holds the quickstart word for word, and the quickstart runs", () => {
    expect(text("README.md")).toContain(text("examples/quickstart.js").trim());
    const run = spawnSync(process.execPath, [`${root}examples/quickstart.js`], { encoding: "utf8" });
    expect([run.status, run.stderr]).toEqual([0, ""]);
    expect(run.stdout.split("\n")).toEqual([
      "FRAME_NOT_JSON at byte 0",
      '{"result":{"n":12345678901234567890},"jsonrpc":"2.0","id":"client-1"}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      "",
    ]);
  });

  it("names a test that exists for each guarantee", () => {
    const named = [...text("README.md").matchAll(/\btest\/[a-z.-]+\.test\.ts\b/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThanOrEqual(8);
    for (const name of named) expect(existsSync(`${root}${name}`)).toBe(true);
  });

  it("lists every error code that the types have, and no other", () => {
    const codes = [...text("src/errors.ts").matchAll(/^ {2}\| "([A-Z_0-9]+)"/gm)].map(([, code]) => code);
    const listed = [...text("README.md").matchAll(/^\| `([A-Z_0-9]+)` +\| -\d/gm)].map(([, code]) => code);
    expect(listed).toEqual(codes);
  });
});
