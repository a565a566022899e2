import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { testFolder } from "./support/folder.js";

const folder = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string): string => readFileSync(join(folder, path), "utf8");

interface Manifest {
  readonly files: readonly string[];
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly dependencies?: object;
}
const manifest: Manifest = JSON.parse(read("package.json"));

describe("the built package", () => {
  it("gives out exactly these values", async () => {
    const entry: object = await import(new URL("../dist/index.js", import.meta.url).href);
    expect(Object.keys(entry).sort()).toEqual([
      "AttestationError",
      "askAsChild",
      "attestedSpawn",
      "createMeasurer",
      "createStatement",
      "decide",
      "describeLaunch",
      "interpreterPin",
      "isAttestationError",
      "measureLaunch",
      "signStatement",
    ]);
    const verify: object = await import(new URL("../dist/verify.js", import.meta.url).href);
    expect(Object.keys(verify).sort()).toEqual(["preAuthentication", "statementType", "verifyStatement"]);
  });

  it("depends on nothing", () => {
    expect(manifest.dependencies).toBeUndefined();
  });

  it("holds every exports target, and the worker beside the entry, in the files that are packed", () => {
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === "string" ? [target] : [target.types, target.default],
    );
    for (const target of [...targets, "./dist/measure-worker.js"]) {
      expect(existsSync(join(folder, target))).toBe(true);
      const isPacked = target === "./package.json" || manifest.files.some((each) => target.startsWith(`./${each}/`));
      expect(isPacked).toBe(true);
    }
  });

  it("verifies without a module of Node: /verify and what it imports name none", () => {
    const seen = new Set<string>();
    const follow = (name: string): void => {
      if (seen.has(name)) return;
      seen.add(name);
      const source = read(`dist/${name}`);
      expect(source).not.toMatch(/from\s*"(?!\.\/)|\bimport\s*\(|\brequire\s*\(/);
      for (const [, next] of source.matchAll(/from\s*"\.\/([^"]+)"/g)) follow(next ?? "");
    };
    follow("verify.js");
  });
});

describe("the README", () => {
  it("holds the example verbatim", () => {
    expect(read("README.md")).toContain(`\`\`\`js\n${read("examples/quickstart.js")}\`\`\``);
  });

  it("names every error code that the source declares, and no other", () => {
    const declared = [...read("src/errors.ts").matchAll(/^ {2}\| "([A-Z_]+)"/gm)].map((match) => match[1]);
    const table = read("README.md").split("## Errors")[1]?.split("\n## ")[0] ?? "";
    const named = [...table.matchAll(/^\| `([A-Z_]+)`/gm)].map((match) => match[1]);
    expect(named.sort()).toEqual(declared.sort());
  });
});

describe("the example", () => {
  it("runs from dist", () => {
    const script = join(testFolder({ "hello.js": 'console.log("hello")' }), "hello.js");
    const output = execFileSync(process.execPath, [join(folder, "examples/quickstart.js"), script], {
      encoding: "utf8",
      timeout: 30_000,
    });
    expect(output.split("\n")).toEqual([
      expect.stringMatching(/^file \/.*hello\.js: sha256:[0-9a-f]{64}$/),
      "spawn spawn-measured",
      "hello",
      "",
    ]);
  });
});
