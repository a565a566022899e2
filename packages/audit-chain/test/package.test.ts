import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const text = (name: string): string => readFileSync(`${root}${name}`, "utf8");
const manifest = JSON.parse(text("package.json"));

describe("the built package", () => {
  it("exports from its main entry what it lists, and nothing else", async () => {
    const entry = await import("@berth/audit-chain");
    expect(Object.keys(entry).sort()).toEqual([
      "ChainError",
      "canonicalJson",
      "isChainError",
      "listLogs",
      "openChain",
      "openSessionLog",
      "readChain",
      "readLogs",
      "readToDamage",
      "recordable",
      "verifyLog",
      "verifyLogs",
    ]);
  });

  it("exports verifyChain from /verify, and nothing else", async () => {
    expect(Object.keys(await import("@berth/audit-chain/verify"))).toEqual(["verifyChain"]);
  });

  it("packs every file that its exports and its command name", () => {
    const targets: unknown[] = Object.values(manifest.exports).flatMap((target) =>
      typeof target === "string" ? [target] : Object.values(target ?? {}),
    );
    for (const target of [...targets, ...Object.values(manifest.bin)]) {
      const name = String(target).replace(/^\.\//, "");
      expect(existsSync(`${root}${name}`)).toBe(true);
      const packed = ["package.json", ...manifest.files];
      expect(packed.some((file: string) => name === file || name.startsWith(`${file}/`))).toBe(true);
    }
  });

  it("depends on nothing", () => {
    expect(manifest.dependencies).toBeUndefined();
    expect(manifest.peerDependencies).toBeUndefined();
  });
});

describe("the README", () => {
  it("holds the quickstart word for word, and the quickstart runs", () => {
    expect(text("README.md")).toContain(text("examples/quickstart.js").trim());
    const run = spawnSync(process.execPath, [`${root}examples/quickstart.js`], { encoding: "utf8" });
    expect([run.status, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toContain("true 4 []");
  });

  it("names a test that exists for each guarantee", () => {
    const named = [...text("README.md").matchAll(/\btest\/[a-z.-]+\.test\.ts\b/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThanOrEqual(8);
    for (const name of named) expect(existsSync(`${root}${name}`)).toBe(true);
  });

  it("lists every error code, problem and notice that the types have", () => {
    for (const file of ["src/errors.ts", "src/report.ts"]) {
      for (const [, code] of text(file).matchAll(/^ {2}\| "([A-Z_]+)"/gm))
        expect(text("README.md")).toContain(`\`${code}\``);
    }
  });
});
