import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const text = (name: string): string => readFileSync(`${root}${name}`, "utf8");
const manifest = JSON.parse(text("package.json"));

describe("the built package", () => {
  it("exports what it lists, and nothing else", async () => {
    expect(Object.keys(await import("@berth/state-folder")).sort()).toEqual([
      "StateError",
      "defaultStatePath",
      "findPrivateFolder",
      "isStateError",
      "openPrivateFolder",
      "readText",
      "replaceFile",
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

  it("depends on nothing", () => {
    expect(manifest.dependencies).toBeUndefined();
    expect(manifest.peerDependencies).toBeUndefined();
  });
});

describe("the README", () => {
  it("holds the quickstart word for word, and the quickstart runs", () => {
    expect(text("README.md")).toContain(text("examples/quickstart.js").trim());
    const run = spawnSync(process.execPath, [`${root}examples/quickstart.js`], { encoding: "utf8" });
    expect([run.status, run.stderr, run.stdout]).toEqual([0, "", '{"pins":[]}\n\nSTATE_NEWER\n']);
  });

  it("names a test that exists for each guarantee", () => {
    const named = [...text("README.md").matchAll(/\btest\/[a-z.-]+\.test\.ts\b/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThanOrEqual(6);
    for (const name of named) expect(existsSync(`${root}${name}`)).toBe(true);
  });

  it("lists every error code that the types have, and no other", () => {
    const [, union = ""] = /StateErrorCode =([^;]*);/u.exec(text("src/errors.ts")) ?? [];
    const codes = [...union.matchAll(/"([A-Z_]+)"/g)].map(([, code]) => code);
    const listed = [...text("README.md").matchAll(/^\| `([A-Z_]+)` +\|/gm)].map(([, code]) => code);
    expect(listed).toEqual(codes);
  });
});
