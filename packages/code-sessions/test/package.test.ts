import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const text = (name: string): string => readFileSync(`${root}${name}`, "utf8");
const manifest = JSON.parse(text("package.json"));

describe("the built package", () => {
  it("exports what it lists, and nothing else", async () => {
    expect(Object.keys(await import("@berth/code-sessions")).sort()).toEqual([
      "SessionError",
      "createSessions",
      "isSessionError",
    ]);
  });

  it("packs every file that its exports name, and the worker", () => {
    const targets: unknown[] = Object.values(manifest.exports).flatMap((target) =>
      typeof target === "string" ? [target] : Object.values(target ?? {}),
    );
    for (const target of [...targets, "python/worker.py"]) {
      const name = String(target).replace(/^\.\//, "");
      expect(existsSync(`${root}${name}`), name).toBe(true);
      const packed = ["package.json", ...manifest.files];
      expect(packed.some((file: string) => name === file || name.startsWith(`${file}/`))).toBe(true);
    }
  });

  it("has a worker of small files that import nothing but the standard library", () => {
    const files = readdirSync(`${root}python/berth_worker`).filter((name) => name.endsWith(".py"));
    for (const name of ["worker.py", ...files.map((file) => `berth_worker/${file}`)]) {
      const source = text(`python/${name}`);
      expect(source.split("\n").length, name).toBeLessThan(300);
      const names = [...source.matchAll(/^\s*(?:from|import) ([A-Za-z_]\w*)/gm)].map(([, module]) => module);
      const known = [
        "import sys",
        ...names.map((module) => `import ${module}`).filter((line) => !/berth_worker|matplotlib/.test(line)),
      ];
      const run = spawnSync("/usr/bin/python3", ["-I", "-S", "-c", known.join("\n")], { encoding: "utf8" });
      expect(run.stderr, name).toBe("");
    }
  });
});

describe("the README", () => {
  it("holds the quickstart word for word", () => {
    expect(text("README.md")).toContain(text("examples/quickstart.js").trim());
  });

  partTest("bubblewrap", "python3")("has a quickstart that runs", () => {
    const run = spawnSync(process.execPath, [`${root}examples/quickstart.js`], { encoding: "utf8" });
    expect([run.status, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toBe("ok 4 3.75\nIndexError - list index out of range\n");
  });

  it("names a test that exists for each guarantee", () => {
    const named = [...text("README.md").matchAll(/\btest\/[a-z.-]+\.test\.ts\b/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThanOrEqual(12);
    for (const name of named) expect(existsSync(`${root}${name}`), name).toBe(true);
  });

  it("lists every error code and every limit", () => {
    const codes = [...text("src/errors.ts").matchAll(/^ {2}\| "([A-Z_]+)"/gm)].map(([, code]) => code);
    const limits = [...text("src/session-terms.ts").matchAll(/^ {2}([a-zA-Z]+): \{ min/gm)].map(([, limit]) => limit);
    expect(codes.length).toBeGreaterThan(15);
    expect(limits.length).toBeGreaterThan(15);
    for (const name of [...codes, ...limits]) expect(text("README.md"), name).toContain(`\`${name}\``);
  });
});
