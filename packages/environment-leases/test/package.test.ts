import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const text = (name: string): string => readFileSync(`${root}${name}`, "utf8");
const manifest = JSON.parse(text("package.json"));

describe("the built package", () => {
  it("exports what it lists, and nothing else", async () => {
    expect(Object.keys(await import("@berth/environment-leases")).sort()).toEqual([
      "LeaseError",
      "createBubblewrapProvider",
      "createEnvironmentPipeline",
      "createLeases",
      "createMemoryLeaseStore",
      "createUnconfinedProvider",
      "isLeaseError",
      "readPolicy",
      "readProfile",
      "requireCapabilities",
      "systemScheduler",
    ]);
    expect(Object.keys(await import("@berth/environment-leases/contract")).sort()).toEqual([
      "leaseStoreContract",
      "providerContract",
      "pythonPrograms",
    ]);
    expect(Object.keys(await import("@berth/environment-leases/memory")).sort()).toEqual([
      "createMemoryProvider",
      "createMemoryWorld",
    ]);
    expect(Object.keys(await import("@berth/environment-leases/sqlite")).sort()).toEqual([
      "openSqliteLeaseStore",
      "readSqliteLeases",
    ]);
  });

  it("packs every file that its exports name", () => {
    const targets: unknown[] = Object.values(manifest.exports).flatMap((target) =>
      typeof target === "string" ? [target] : Object.values(target ?? {}),
    );
    for (const target of targets) {
      const name = String(target).replace(/^\.\//, "");
      expect(existsSync(`${root}${name}`), name).toBe(true);
      const packed = ["package.json", ...manifest.files];
      expect(packed.some((file: string) => name === file || name.startsWith(`${file}/`))).toBe(true);
    }
  });

  it("imports no schema library when it is loaded", () => {
    const bundles = ["index.js", "contract.js", "memory.js", "sqlite.js"].map((name) => text(`dist/${name}`));
    for (const bundle of bundles) expect(bundle).not.toMatch(/from\s*["']zod["']/);
  });
});

describe("the README", () => {
  it("holds the quickstart word for word", () => {
    expect(text("README.md")).toContain(text("examples/quickstart.js").trim());
  });

  partTest("bubblewrap", "python3")("has a quickstart that runs", () => {
    const run = spawnSync(process.execPath, [`${root}examples/quickstart.js`], { encoding: "utf8" });
    expect([run.status, run.stderr, run.stdout]).toEqual([0, "", "0 42\nreleased\n"]);
  });

  it("names a test that exists for each guarantee", () => {
    const named = [...text("README.md").matchAll(/\btest\/[a-z./-]+\.test\.ts\b/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThanOrEqual(15);
    for (const name of named) expect(existsSync(`${root}${name}`), name).toBe(true);
  });

  it("names every code, every end, and every limit", () => {
    const readme = text("README.md");
    const quoted = (name: string, start: string): string[] => {
      const source = text(`src/${name}`);
      const from = source.indexOf(start);
      const declaration = source.slice(from, source.indexOf(";\n", from));
      return [...declaration.matchAll(/"([A-Za-z_-]+)"/g)].map(([, word]) => word ?? "");
    };
    const words = [
      ...quoted("errors.ts", "export type LeaseErrorCode"),
      ...quoted("lease.ts", "export type LeaseEndReason"),
      ...quoted("lease.ts", "export type LeaseState"),
    ];
    expect(words.length).toBeGreaterThan(45);
    for (const word of words) expect(readme.includes(word), word).toBe(true);
    const contract = text("src/leases-contract.ts");
    const limits = contract.slice(contract.indexOf("export interface LeaseLimits"));
    const names = [...limits.slice(0, limits.indexOf("\n}")).matchAll(/readonly (\w+)\?/g)].map(
      ([, name]) => name ?? "",
    );
    expect(names.length).toBe(12);
    for (const name of names) expect(readme.includes(`\`${name}\``), name).toBe(true);
  });
});
