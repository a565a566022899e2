import { join } from "node:path";
import { afterAll, expect, it, describe as suite } from "vitest";
import { type Measurement, measureLaunch, type SpawnDescription } from "../src/index.js";
import { type Content, testFolder } from "./support/folder.js";
import { describe, env, refusal } from "./support/launch.js";
import { sourceMeasurer } from "./support/source-measurer.js";

const measurer = sourceMeasurer();
afterAll(() => measurer.close());
const measure = (description: SpawnDescription): Promise<Measurement> => measureLaunch(description, { measurer });
/** A Python of known version that needs not run. */
const python = { "py/bin/python3.11": { program: "\u007fELF" } };

interface Case {
  readonly name: string;
  readonly contents: Readonly<Record<string, Content>>;
  readonly script: string;
  readonly root: string;
  readonly scope?: "file";
}

suite("the package root of a Node script", () => {
  const cases: readonly Case[] = [
    {
      name: "is the nearest folder with a named package.json",
      contents: { "p/package.json": '{"name":"p"}', "p/dist/s.js": "" },
      script: "p/dist/s.js",
      root: "p",
    },
    {
      name: "passes over a package.json that only sets the module type",
      contents: { "p/package.json": '{"name":"p"}', "p/dist/package.json": '{"type":"module"}', "p/dist/s.js": "" },
      script: "p/dist/s.js",
      root: "p",
    },
    {
      name: "takes the nearest when none has a name",
      contents: { "p/package.json": "{}", "p/d/package.json": "{}", "p/d/s.js": "" },
      script: "p/d/s.js",
      root: "p/d",
    },
    {
      name: "does not go past node_modules",
      contents: { "package.json": '{"name":"app"}', "node_modules/x/s.js": "" },
      script: "node_modules/x/s.js",
      root: "node_modules/x/s.js",
      scope: "file",
    },
    {
      name: "is found behind the script's symlinks",
      contents: {
        "p/package.json": '{"name":"p"}',
        "p/s.js": "",
        "q/package.json": '{"name":"q"}',
        "q/s.js": { link: "../p/s.js" },
      },
      script: "q/s.js",
      root: "p",
    },
    {
      name: "is also one whose package.json is broken off",
      contents: { "p/package.json": '{"name":', "p/s.js": "" },
      script: "p/s.js",
      root: "p",
    },
    {
      name: "is none for a script that stands alone",
      contents: { "s.js": "" },
      script: "s.js",
      root: "s.js",
      scope: "file",
    },
  ];
  it.each(cases)("$name", async ({ contents, script, root, scope = "tree" }) => {
    const folder = testFolder(contents);
    const { coverage } = await measure(describe("node", [script], { cwd: folder, env }));
    expect(coverage).toMatchObject({ scope, root: join(folder, root) });
  });

  it("is never the home folder", async () => {
    const folder = testFolder({ "package.json": '{"name":"stray"}', "s.js": "" });
    const { coverage } = await measure(describe("node", ["s.js"], { cwd: folder, env: { ...env, HOME: folder } }));
    expect(coverage.scope).toBe("file");
  });
});

suite("the package root of a Python script", () => {
  const cases: readonly Case[] = [
    {
      name: "is the nearest folder with pyproject.toml",
      contents: { "p/pyproject.toml": "", "p/src/a/s.py": "" },
      script: "p/src/a/s.py",
      root: "p",
    },
    { name: "or with setup.py", contents: { "p/setup.py": "", "p/s.py": "" }, script: "p/s.py", root: "p" },
    {
      name: "else the top of the chain of __init__.py",
      contents: { "p/q/__init__.py": "", "p/q/r/__init__.py": "", "p/q/r/s.py": "" },
      script: "p/q/r/s.py",
      root: "p/q",
    },
    {
      name: "does not go past site-packages",
      contents: { "pyproject.toml": "", "lib/site-packages/m/__init__.py": "", "lib/site-packages/m/s.py": "" },
      script: "lib/site-packages/m/s.py",
      root: "lib/site-packages/m",
    },
    {
      name: "does not go past a virtual environment",
      contents: { "pyproject.toml": "", ".venv/pyvenv.cfg": "", ".venv/bin/s.py": "" },
      script: ".venv/bin/s.py",
      root: ".venv/bin/s.py",
      scope: "file",
    },
    {
      name: "is none for a script that stands alone",
      contents: { "s.py": "", "package.json": '{"name":"x"}' },
      script: "s.py",
      root: "s.py",
      scope: "file",
    },
  ];
  it.each(cases)("$name", async ({ contents, script, root, scope = "tree" }) => {
    const folder = testFolder({ ...contents, ...python });
    const { coverage } = await measure(describe("py/bin/python3.11", [script], { cwd: folder, env }));
    expect(coverage).toMatchObject({ scope, root: join(folder, root) });
  });
});

suite("what the coverage leaves out", () => {
  const contents = {
    "app/node_modules/x/i.js": "",
    "app/p/package.json": '{"name":"p"}',
    "app/p/s.js": "",
    "app/p/pre.js": "",
    "app/p/node_modules/y/i.js": "",
    "other.js": "",
  };

  it("names modules above the package, and not those inside", async () => {
    const folder = testFolder(contents);
    const { coverage } = await measure(describe("node", ["app/p/s.js"], { cwd: folder, env }));
    expect(coverage.leavesOut).toEqual([`hoisted-modules:${folder}/app/node_modules`]);
  });

  it("names nothing when everything is measured", async () => {
    const folder = testFolder(contents);
    const { coverage } = await measure(describe("node", ["app/p/s.js"], { cwd: folder, env, measureTarget: "app" }));
    expect(coverage.leavesOut).toEqual([]);
  });

  it("names code that options load, unless it is inside", async () => {
    const folder = testFolder(contents);
    const args = [
      "--require",
      "./app/p/pre.js",
      "-r",
      "./other.js",
      "--import",
      "tsx",
      "--env-file=.env",
      "app/p/s.js",
    ];
    const { coverage } = await measure(describe("node", args, { cwd: folder, env }));
    expect(coverage.leavesOut).toEqual(expect.arrayContaining(["preload:./other.js", "preload:tsx", "preload:.env"]));
    expect(coverage.leavesOut).not.toContain("preload:./app/p/pre.js");
  });

  it("names options that lead imports elsewhere than the real path of the script", async () => {
    const folder = testFolder(contents);
    const args = ["--preserve-symlinks-main", "--experimental-package-map", "map.json", "app/p/s.js"];
    const { coverage } = await measure(describe("node", args, { cwd: folder, env }));
    expect(coverage.leavesOut).toEqual(
      expect.arrayContaining(["preload:map.json", "preload:--preserve-symlinks-main"]),
    );
  });

  it("names variables that load code, also those that a start line sets", async () => {
    const folder = testFolder(contents);
    const more = { ...env, NODE_OPTIONS: "", LD_PRELOAD: "", PYTHONPATH: "", HARMLESS: "" };
    const { coverage } = await measure(
      describe("env", ["NODE_PATH=/x", "node", "app/p/s.js"], { cwd: folder, env: more }),
    );
    expect(coverage.leavesOut.filter((part) => part.startsWith("environment:"))).toEqual([
      "environment:LD_PRELOAD",
      "environment:NODE_OPTIONS",
      "environment:NODE_PATH",
    ]);
  });

  it("names what lies beside a script that is measured alone, and what is ignored in a tree", async () => {
    const folder = testFolder(contents);
    const alone = await measure(describe("node", ["other.js"], { cwd: folder, env }));
    expect(alone.coverage.leavesOut).toEqual([`siblings:${folder}`]);
    const tree = await measure(
      describe("node", ["app/p/s.js"], { cwd: folder, env, measureTarget: "app", measureIgnore: ["**/y"] }),
    );
    expect(tree.coverage).toMatchObject({ ignore: ["**/y"], leavesOut: ["ignored:**/y"] });
  });

  it("names programs that a shell script calls", async () => {
    const folder = testFolder({ "s.sh": "" });
    const { coverage } = await measure(describe("sh", ["s.sh"], { cwd: folder, env }));
    expect(coverage.leavesOut).toEqual(["called-programs"]);
  });
});

suite("measureIgnore", () => {
  it("may not leave out what runs", async () => {
    const folder = testFolder({ "p/package.json": '{"name":"p"}', "p/dist/s.js": "" });
    for (const glob of ["dist", "**/s.js", "**"]) {
      const promise = measure(describe("node", ["p/dist/s.js"], { cwd: folder, env, measureIgnore: [glob] }));
      expect(await refusal(promise)).toBe("TARGET_IGNORED");
    }
  });

  it("that cannot be read is refused", async () => {
    const folder = testFolder({ "p/package.json": '{"name":"p"}', "p/s.js": "" });
    expect(await refusal(measure(describe("node", ["p/s.js"], { cwd: folder, env, measureIgnore: ["../x"] })))).toBe(
      "IGNORE_INVALID",
    );
  });
});

suite("the form of the pin", () => {
  it("sha256 asks for the file alone, as a catalog that was made by sha256sum does", async () => {
    const folder = testFolder({ "p/package.json": '{"name":"p"}', "p/s.js": "x" });
    const description = describe("node", ["p/s.js"], { cwd: folder, env });
    const file = await measure({ ...description, digest: `sha256:${"0".repeat(64)}` });
    expect(file).toMatchObject({
      digest: expect.stringMatching(/^sha256:/),
      coverage: { scope: "file", root: join(folder, "p/s.js") },
    });
    const tree = await measure({ ...description, digest: `tree-v1:${"0".repeat(64)}` });
    expect(tree.coverage.scope).toBe("tree");
  });
});
