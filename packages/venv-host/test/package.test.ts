import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  codesOf,
  itExports,
  itNamesTests,
  itPacks,
  itShowsQuickstart,
  packageOf,
} from "../../../fixtures/package-promises.js";
import { partTest, scratchFolder } from "../../../fixtures/parts.js";

const tested = packageOf(import.meta.url);

// Where the quickstart's requirements come from, instead of the package index.
process.env["PIP_NO_INDEX"] = "1";
process.env["PIP_FIND_LINKS"] = join(scratchFolder, "cpex-wheels");

describe("the built package", () => {
  itExports(tested, {
    ".": [
      "VenvHostError",
      "claimInstalledEnvironment",
      "environmentFacts",
      "findInstalledEnvironment",
      "foreseeEnvironment",
      "foreseenText",
      "isVenvHostError",
      "isolatedVenv",
      "openEnvironmentStore",
      "openWorker",
      "pluginEnvironments",
      "tryPlugin",
      "workerEnvironment",
    ],
    "./executor": [
      "PluginHostError",
      "createPluginHost",
      "inProcess",
      "isPluginHostError",
      "pythonCapabilities",
      "readPluginReply",
      "readPluginsConfig",
      "writePluginCall",
    ],
  });
  itPacks(tested);

  it("packs the program that compiles what is installed", () => {
    const { files }: { readonly files: readonly string[] } = JSON.parse(tested.text("package.json"));
    expect(files).toContain("python");
    expect(tested.text("dist/index.js")).toContain('new URL("../python/compile_modules.py", import.meta.url)');
  });

  it("loads no schema library and no YAML parser when it is loaded, and the executor nothing of processes", () => {
    const imported = (file: string): readonly string[] => {
      const named = [...tested.text(`dist/${file}`).matchAll(/^(?:import|export)\b[^;]*?\bfrom "([^"]+)";$/gmu)];
      const names = named.map(([, name = ""]) => name);
      return names.flatMap((name) => (name.startsWith("./") ? imported(name.slice(2)) : [name]));
    };
    for (const name of [...imported("index.js"), ...imported("executor.js")]) expect(name).not.toMatch(/^(zod|yaml)$/u);
    for (const name of imported("executor.js")) expect(name).not.toMatch(/child_process|stdio-transport/u);
    expect(imported("index.js")).toContain("@berth/stdio-transport");
  });
});

describe("the README", () => {
  const test = partTest("cpex-wheels", "python3-venv");
  itShowsQuickstart(tested, "ls is allowed\nrm is denied by guard: no rm\n", (title, run) => test(title, run, 180_000));
  itNamesTests(tested, 35);

  it("names every code of both entries", () => {
    const readme = tested.text("README.md");
    const codes = [
      ...codesOf(tested, "VenvHostErrorCode"),
      ...codesOf(tested, "PluginHostErrorCode", "src/executor/errors.ts"),
    ];
    expect(codes.length).toBeGreaterThan(20);
    for (const code of codes) expect(readme.includes(`\`${code}\``), code).toBe(true);
  });

  it("names every limit that can be set, and everything that can be imported", async () => {
    const readme = tested.text("README.md");
    const limits = (file: string, type: string): readonly string[] => {
      const source = tested.text(file);
      const text = source.slice(source.indexOf(`export interface ${type} `));
      const names = [...text.slice(0, text.indexOf("\n}")).matchAll(/readonly (\w+)\?/gu)];
      return names.map(([, name = ""]) => name);
    };
    const names = [
      ...limits("src/worker/worker.ts", "WorkerLimits"),
      ...limits("src/environments/environment-store.ts", "BuildLimits"),
      ...limits("src/executor/plugin-host.ts", "ExecutorLimits"),
    ];
    expect(names.length).toBe(19);
    for (const entry of ["@berth/venv-host", "@berth/venv-host/executor"])
      names.push(...Object.keys(await import(entry)));
    for (const name of names) expect(new RegExp(`\\b${name}\\b`, "u").test(readme), name).toBe(true);
  });
});
