import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { defaultEnvironmentNames } from "../src/index.js";

const root = fileURLToPath(new URL("../", import.meta.url));
const text = (name: string): string => readFileSync(`${root}${name}`, "utf8");
const manifest = JSON.parse(text("package.json"));

describe("the built package", () => {
  it.each([
    {
      entry: "@berth/stdio-transport",
      names: [
        "StdioTransportError",
        "createStreamTransport",
        "defaultEnvironmentNames",
        "isStdioTransportError",
        "listedEnvironment",
        "openChild",
        "probeContainment",
        "sweepChildren",
      ],
    },
    { entry: "@berth/stdio-transport/memory", names: ["createMemoryPair"] },
    { entry: "@berth/stdio-transport/sdk", names: ["sdkTransport"] },
    {
      entry: "@berth/stdio-transport/streams",
      names: ["StdioTransportError", "createStreamTransport", "isStdioTransportError"],
    },
  ])("exports from $entry what it lists, and nothing else", async ({ entry, names }) => {
    expect(Object.keys(await import(entry)).sort()).toEqual(names);
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

  it("depends on jsonrpc-framing only", () => {
    expect(Object.keys(manifest.dependencies)).toEqual(["@berth/jsonrpc-framing"]);
    expect(manifest.peerDependencies).toBeUndefined();
  });

  it("passes no variable on by default that could hold a secret or change how code is loaded", () => {
    const risky = /TOKEN|KEY|SECRET|PASS|PROXY|PRELOAD|NODE_|PYTHON|PERL|RUBY|JAVA|^LD_|^DYLD_|^BASH|^ENV$/;
    expect(defaultEnvironmentNames.filter((name) => risky.test(name))).toEqual([]);
    expect(defaultEnvironmentNames).toEqual(expect.arrayContaining(["PATH", "HOME", "LANG", "TMPDIR"]));
  });
});

describe("the README", () => {
  it("holds the quickstart word for word, and the quickstart runs", () => {
    expect(text("README.md")).toContain(text("examples/quickstart.js").trim());
    const run = spawnSync(process.execPath, [`${root}examples/quickstart.js`], { encoding: "utf8" });
    expect([run.status, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toBe('{"jsonrpc":"2.0","id":1,"method":"ping"}\n{ code: 0, signal: null } 0\n');
  });

  it("names a test that exists for each guarantee", () => {
    const named = [...text("README.md").matchAll(/\btest\/[a-z.-]+\.test\.ts\b/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThanOrEqual(8);
    for (const name of named) expect(existsSync(`${root}${name}`), name).toBe(true);
  });

  it("lists every error code that the type has", () => {
    const codes = [...text("src/errors.ts").matchAll(/^ {2}\| "([A-Z_]+)"/gm)].map(([, code]) => code);
    expect(codes.length).toBeGreaterThan(10);
    for (const code of codes) expect(text("README.md")).toContain(`| \`${code}\``);
  });
});
