import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { EnvironmentRequest } from "../../src/environments/environment-store.js";
import { findWorker } from "../../src/isolated-venv/find-worker.js";
import { isolatedVenv } from "../../src/isolated-venv/isolated-venv.js";
import type { PluginOfEnvironment } from "../../src/isolated-venv/isolated-venv-options.js";
import { isInside } from "../../src/isolated-venv/plugin-paths.js";
import { callOf, entryOf, makeCwd, makeEnvironment, openPlugin, temporaryFolder } from "./plugins.js";

describe("the plugin folder", () => {
  it("is <cwd>/plugins: a plugin in it is loaded, unchanged", async () => {
    const cwd = makeCwd();
    mkdirSync(join(cwd, "plugins", "greeter"));
    writeFileSync(
      join(cwd, "plugins", "greeter", "__init__.py"),
      "class Greeter:\n    def __init__(self, config):\n        self.word = config['config']['word']\n    async def tool_pre_invoke(self, payload, context):\n        return {'metadata': {'said': self.word + payload['name']}}\n",
    );
    const entry = entryOf("", { config: { class_name: "greeter.Greeter", word: "hello " } });
    const plugin = await openPlugin(entry, { cwd });
    expect(await plugin.call(callOf({ name: "you" }), {})).toMatchObject({ metadata: { said: "hello you" } });
  });

  it("that is missing is told before anything is built", async () => {
    const cwd = temporaryFolder();
    await expect(openPlugin(entryOf("Echo"), { cwd })).rejects.toMatchObject({
      code: "WORKER_START_FAILED",
      message: `there is no folder ${cwd}/plugins: plugins are found in <cwd>/plugins`,
    });
  });

  it("that leads to a folder beside the host's, whose name begins like it, is refused", async () => {
    const cwd = makeCwd();
    const beside = `${cwd}-evil`;
    mkdirSync(beside);
    rmSync(join(cwd, "plugins"), { recursive: true });
    symlinkSync(beside, join(cwd, "plugins"));
    try {
      await expect(openPlugin(entryOf("Echo"), { cwd })).rejects.toMatchObject({
        code: "WORKER_START_FAILED",
        message: expect.stringContaining("out of"),
      });
    } finally {
      rmSync(beside, { recursive: true });
    }
  });

  it("of a host folder that is a link is found where the link leads", async () => {
    const cwd = makeCwd();
    const link = join(temporaryFolder(), "link");
    symlinkSync(cwd, link);
    const plugin = await openPlugin(entryOf("Environment"), { cwd: link });
    expect(await plugin.call(callOf({}), {})).toMatchObject({ metadata: { cwd } });
  });

  it.each([
    { folder: "/a/b", path: "/a/b/c", inside: true },
    { folder: "/a/b", path: "/a/bc", inside: false },
    { folder: "/a/b", path: "/a/b", inside: false },
    { folder: "/a/b", path: "/a", inside: false },
    { folder: "/a/b", path: "/a/b/..c", inside: true },
    { folder: "/", path: "/a", inside: true },
  ])("$path is inside $folder: $inside", ({ folder, path, inside }) => {
    expect(isInside(folder, path)).toBe(inside);
  });
});

describe("the worker's file", () => {
  it.each([
    { name: "in the site-packages that are named", folder: "named", named: true },
    { name: "in those of its version", folder: "lib/python3.11/site-packages", named: false },
    { name: "in those of Windows", folder: "Lib/site-packages", named: false },
    { name: "directly in the environment", folder: ".", named: false },
  ])("is found $name, before all later places", async ({ folder, named }) => {
    const path = temporaryFolder();
    const places = ["named", "lib/python3.11/site-packages", "Lib/site-packages", "."];
    for (const place of places.slice(places.indexOf(folder))) {
      mkdirSync(join(path, place, "cpex"), { recursive: true });
      writeFileSync(join(path, place, "cpex", "worker.py"), "");
    }
    const sitePackages = named ? join(path, "named") : undefined;
    const environment = { path, python: "/usr/bin/python3", sitePackages, close: async () => undefined };
    expect(await findWorker(environment, "cpex/worker.py")).toBe(join(path, folder, "cpex", "worker.py"));
  });

  it("is found in a real environment, and runs from there", async () => {
    const plugin = await openPlugin(entryOf("Environment"));
    const { metadata } = await plugin.call(callOf({}), {});
    expect(JSON.stringify(metadata)).toMatch(
      /\.venv\/lib\/python3\.\d+\/site-packages\/cpex\/framework\/isolated\/worker\.py/u,
    );
  });

  it("given as an absolute path is used as it is", async () => {
    const other = makeEnvironment();
    const script = join(other.path, "w.py");
    writeFileSync(script, "import sys\nsys.exit('this one')\n");
    const entry = entryOf("Echo", { config: { class_name: "a.B", script_path: script } });
    await expect(openPlugin(entry)).rejects.toMatchObject({ details: { stderrExcerpt: "this one" } });
  });

  it("that is missing: names the environment and the likely cause, and lets the environment go", async () => {
    const environment = makeEnvironment(undefined, false);
    await expect(openPlugin(entryOf("Echo"), { environment })).rejects.toMatchObject({
      code: "WORKER_START_FAILED",
      message: expect.stringMatching(new RegExp(`${environment.path}.*requirements do not name cpex`, "u")),
    });
    expect(environment.closed()).toBe(1);
  });
});

describe("what an environment is asked for", () => {
  it.each([
    { name: "nothing", config: {}, request: { interpreter: undefined, requirements: undefined } },
    {
      name: "a relative file, in the folder of the plugin's package",
      config: { requirements_file: "r.txt" },
      request: { requirements: "CWD/plugins/pkg/r.txt" },
    },
    { name: "an absolute file", config: { requirements_file: "/r.txt" }, request: { requirements: "/r.txt" } },
    { name: "an interpreter", config: { interpreter: "python3.12" }, request: { interpreter: "python3.12" } },
  ])("$name", async ({ config, request }) => {
    const cwd = makeCwd();
    const asked: [EnvironmentRequest, PluginOfEnvironment][] = [];
    const kind = isolatedVenv({
      cwd,
      acquire: async (wanted, _, plugin) => {
        asked.push([wanted, plugin]);
        throw new Error("no environment today");
      },
    });
    const entry = entryOf("", { config: { class_name: "pkg.mod.Class", ...config }, version: "1.2" });
    const opened = kind.open(entry, { onProgress: () => undefined, onLog: () => undefined });
    await expect(opened).rejects.toThrow("no environment today");
    const expected: unknown = JSON.parse(JSON.stringify(request).replace("CWD", cwd));
    expect(asked).toMatchObject([[expected, { name: "the-plugin", className: "pkg.mod.Class", version: "1.2" }]]);
  });

  it("its evidence is the plugin's evidence", async () => {
    const evidence = {
      digest: "d".repeat(64),
      key: "k",
      installer: "none",
      confinement: "none",
      builtFromSource: false,
      distributions: [],
      interpreter: { path: "/p", version: "3.11.7", sha256: "s" },
    };
    const built = await openPlugin(entryOf("Echo"), { environment: { ...makeEnvironment(), key: "k", evidence } });
    expect(built.evidence).toEqual({
      environment: "built",
      environmentDigest: evidence.digest,
      environmentKey: "k",
      pythonVersion: "3.11.7",
      cpexVersion: "0.1.4",
      workerConfinement: "none",
    });
    const cpex = { name: "cpex", version: "0.1.3", recordSha256: undefined };
    const old = await openPlugin(entryOf("Echo"), {
      environment: { ...makeEnvironment("old"), key: "k", evidence: { ...evidence, distributions: [cpex] } },
    });
    expect(old.evidence, "an old worker does not tell its version").toMatchObject({ cpexVersion: "0.1.3" });
    const installed = await openPlugin(entryOf("Echo"));
    expect(installed.evidence).toMatchObject({ environment: "installed" });
  });
});
