import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../", import.meta.url));
const text = (name: string): string => readFileSync(`${root}${name}`, "utf8");
const manifest = JSON.parse(text("package.json"));

describe("the built package", () => {
  it("exports what it lists, and nothing else", async () => {
    const names = async (entry: string): Promise<string[]> => Object.keys(await import(entry)).sort();
    expect(await names("@berth/command-line")).toEqual([
      "CommandError",
      "Option",
      "createLogger",
      "examplesText",
      "exitCodes",
      "isCommandError",
      "listenForExit",
      "printJson",
      "printJsonLine",
      "printJsonText",
      "printLine",
      "runProgram",
      "say",
    ]);
    expect(await names("@berth/command-line/config")).toEqual(["checkForm", "describeProblems", "readDocument"]);
    expect(await names("@berth/command-line/doctor")).toEqual(["showChecks"]);
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

  it("loads no more at the start than commander: the log and YAML come when they are needed", () => {
    const imported = (file: string): string[] => {
      const found = [...text(`dist/${file}`).matchAll(/^(?:import .*|export .*|\} )from "([^"]+)";$/gm)].map(
        ([, name = ""]) => name,
      );
      return found.flatMap((name) => (name.startsWith("./") ? imported(name.slice(2)) : [name]));
    };
    expect([...new Set(imported("index.js"))]).toEqual(["commander"]);
  });
});

describe("the README", () => {
  it("holds the quickstart word for word, and the quickstart runs", () => {
    expect(text("README.md")).toContain(text("examples/quickstart.js").trim());
    const run = spawnSync(process.execPath, [`${root}examples/quickstart.js`], { encoding: "utf8" });
    expect([run.status, run.stderr, run.stdout]).toEqual([
      3,
      "ferry: the harbour is closed\n  it opens at 6\n",
      "waiting for the tide\n",
    ]);
  });

  it("names a test that exists for each guarantee", () => {
    const named = [...text("README.md").matchAll(/\btest\/[a-z.-]+\.test\.ts\b/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThanOrEqual(5);
    for (const name of named) expect(existsSync(`${root}${name}`)).toBe(true);
  });
});
