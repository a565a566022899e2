import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { deniedCalls } from "../src/seccomp/calls.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const text = (name: string): string => readFileSync(`${root}${name}`, "utf8");
const manifest = JSON.parse(text("package.json"));

describe("the built package", () => {
  it("exports from its main entry what it lists, and nothing else", async () => {
    expect(Object.keys(await import("@berth/process-confinement")).sort()).toEqual([
      "ConfinementError",
      "egressPort",
      "egressSocketPath",
      "endSandbox",
      "findInterpreter",
      "findSandbox",
      "isConfinementError",
      "openSandbox",
      "probe",
      "selfTest",
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

  it("depends on nothing", () => {
    expect([manifest.dependencies, manifest.peerDependencies]).toEqual([undefined, undefined]);
  });
});

describe("the README", () => {
  const readme = text("README.md");

  it("holds the quickstart word for word", () => {
    expect(readme).toContain(text("examples/quickstart.js").trim());
  });

  partTest("bubblewrap")("shows a quickstart that runs", () => {
    const run = spawnSync(process.execPath, [`${root}examples/quickstart.js`], { encoding: "utf8" });
    expect([run.status, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toMatch(/^hello\nls: .*No such file.*\n\{\n {2}reason: 'exited',\n {2}code: 3,/);
  });

  it("names a test that exists for each guarantee", () => {
    const named = [...readme.matchAll(/\btest\/[a-z./-]+\.test\.ts\b/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThanOrEqual(8);
    for (const name of named) expect(existsSync(`${root}${name}`), name).toBe(true);
  });

  it("lists every error code that the type has", () => {
    const codes = [...text("src/errors.ts").matchAll(/^ {2}\| "([A-Z_]+)"/gm)].map(([, code]) => code);
    expect(codes.length).toBeGreaterThan(10);
    for (const code of codes) expect(readme).toContain(`| \`${code}\``);
  });

  it("lists every system call that is denied", () => {
    const section = readme.slice(readme.indexOf("## System calls"), readme.indexOf("## Start and end"));
    const listed = [...section.matchAll(/`([a-z_0-9]+)`/g)].map(([, name]) => name);
    for (const { name } of deniedCalls) expect(listed).toContain(name);
  });
});
