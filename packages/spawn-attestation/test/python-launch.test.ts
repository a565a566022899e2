import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, describe as suite } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { type Measurement, measureLaunch, type SpawnDescription } from "../src/index.js";
import { fill, testFolder } from "./support/folder.js";
import { describe, makeVenv, pythonPath, refusal, runLaunch } from "./support/launch.js";
import { sourceMeasurer } from "./support/source-measurer.js";

const it = partTest("python3");
const measurer = sourceMeasurer();
afterAll(() => measurer.close());
const env = { PATH: "/usr/bin:/bin" };

const measure = (description: SpawnDescription): Promise<Measurement> =>
  measureLaunch(description, { measurer, scratch: join(testFolder(), "scratch") });

const whereAmI = 'import sys; print(sys.prefix, sys.argv[0], sep="\\n")';

suite("a virtual environment", () => {
  it("is found through the unresolved path of its python, which is what runs", async () => {
    const folder = testFolder({ "s.py": whereAmI });
    const venv = makeVenv(join(folder, "venv"));
    const measured = await measure(describe("venv/bin/python", ["s.py"], { cwd: folder, env }));
    expect(measured.interpreter).toMatchObject({
      family: "python",
      kind: "program",
      path: `${folder}/venv/bin/python`,
      realPath: pythonPath(),
    });
    expect(measured.coverage.leavesOut).toContain(
      `site-packages:${readdirSync(join(venv, "lib")).map((name) => join(venv, "lib", name, "site-packages"))[0]}`,
    );
    expect(runLaunch(measured.launch)).toBe(`${venv}\ns.py\n`);
  });

  it("runs a script in the pipx manner: a link on PATH to a script whose #! line names the environment", async () => {
    const folder = testFolder();
    const venv = makeVenv(join(folder, "pipx/venvs/server"));
    fill(folder, {
      "pipx/venvs/server/bin/server": { program: `#!${venv}/bin/python\n${whereAmI}\n` },
      "bin/server": { link: "../pipx/venvs/server/bin/server" },
    });
    const measured = await measure(describe("server", [], { cwd: folder, env: { PATH: join(folder, "bin") } }));
    expect(measured.launch.file).toBe(join(folder, "bin/server"));
    expect(measured.target).toMatchObject({ path: join(venv, "bin/server"), inArgv: true });
    expect(measured.interpreter?.path).toBe(join(venv, "bin/python"));
    expect(measured.coverage.scope).toBe("file");
    expect(runLaunch(measured.launch)).toBe(`${venv}\n${join(folder, "bin/server")}\n`);
  });

  it("is found behind the line that pip writes when its path is too long for #!", async () => {
    const folder = testFolder();
    const venv = makeVenv(join(folder, "x".repeat(200), "venv"));
    fill(venv, {
      "bin/server": { program: `#!/bin/sh\n'''exec' "${venv}/bin/python" "$0" "$@"\n' '''\n${whereAmI}\n` },
    });
    const measured = await measure(describe(join(venv, "bin/server"), [], { cwd: folder, env }));
    expect(measured.interpreter).toMatchObject({ family: "python", path: join(venv, "bin/python") });
    expect(measured.interpreter?.parts.map((part) => part.path)).toContain("/bin/sh");
    expect(runLaunch(measured.launch)).toBe(`${venv}\n${join(venv, "bin/server")}\n`);
  });

  it("is found behind the line that uv writes for environments that can be moved", async () => {
    const venv = makeVenv(join(testFolder(), "venv"));
    const line = `'''exec' "$(dirname -- "$(realpath -- "$0")")"/'python' "$0" "$@"`;
    fill(venv, { "bin/server": { program: `#!/bin/sh\n${line}\n' '''\n${whereAmI}\n` } });
    const link = join(testFolder({ server: { link: join(venv, "bin/server") } }), "server");
    for (const command of [join(venv, "bin/server"), link]) {
      const measured = await measure(describe(command, [], { env }));
      expect(measured.interpreter).toMatchObject({ family: "python", path: join(venv, "bin/python") });
      expect(runLaunch(measured.launch)).toBe(`${venv}\n${command}\n`);
    }
  });

  it("is known by its pyvenv.cfg, which says where everything else is loaded from", async () => {
    const folder = testFolder({ "s.py": "" });
    const venv = makeVenv(join(folder, "venv"));
    const description = describe("venv/bin/python", ["s.py"], { cwd: folder, env });
    const partOf = async (): Promise<string | undefined> =>
      (await measure(description)).interpreter?.parts.find(({ path }) => path === join(venv, "pyvenv.cfg"))?.digest;
    const before = await partOf();
    expect(before).toMatch(/^sha256:/);
    writeFileSync(join(venv, "pyvenv.cfg"), "home = /evil/bin");
    expect(await partOf()).not.toBe(before);
  });

  it("inside a project is outside the project's digest, and the coverage says so", async () => {
    const folder = testFolder({ "pyproject.toml": "", "src/s.py": "", ".git/HEAD": "x" });
    makeVenv(join(folder, ".venv"));
    const measured = await measure(describe(".venv/bin/python", ["src/s.py"], { cwd: folder, env }));
    expect(measured.coverage).toMatchObject({
      scope: "tree",
      root: folder,
      ignore: ["**/__pycache__", ".git", ".venv"],
    });
    expect(measured.coverage.leavesOut).toEqual(expect.arrayContaining(["ignored:.git", "ignored:.venv"]));
    writeFileSync(join(folder, ".git/HEAD"), "y");
    expect((await measure(describe(".venv/bin/python", ["src/s.py"], { cwd: folder, env }))).digest).toBe(
      measured.digest,
    );
  });
});

suite("python -m", () => {
  it("names no file in argv: it needs measureTarget and allowTargetOutsideArgv, and the evidence shows it", async () => {
    const folder = testFolder({ "srv/__init__.py": "", "srv/__main__.py": 'print("ran")' });
    const description = describe(pythonPath(), ["-m", "srv"], { cwd: folder, env });
    await expect(measure(description)).rejects.toMatchObject({
      code: "TARGET_NOT_IN_ARGV",
      advice: expect.stringContaining('"allowTargetOutsideArgv": true'),
    });
    expect(await refusal(measure({ ...description, measureTarget: "srv" }))).toBe("TARGET_NOT_IN_ARGV");
    const measured = await measure({ ...description, measureTarget: "srv", allowTargetOutsideArgv: true });
    expect(measured).toMatchObject({
      target: { inArgv: false },
      coverage: { scope: "tree", root: join(folder, "srv") },
    });
    expect(runLaunch(measured.launch)).toBe("ran\n");
  });

  it("python FOLDER runs its __main__.py: the folder is the target", async () => {
    const folder = testFolder({ "app/__main__.py": 'import lib; print("ran")', "app/lib.py": "" });
    const measured = await measure(describe(pythonPath(), ["app"], { cwd: folder, env }));
    expect(measured).toMatchObject({
      target: { inArgv: true },
      coverage: { scope: "tree", root: join(folder, "app") },
    });
    expect(runLaunch(measured.launch)).toBe("ran\n");
  });
});

/** Compiled code that prints "planted", where Python would take it for the cache of `lib.py`. */
function plantCache(folder: string, python: string): void {
  const evil = testFolder({ "lib.py": 'print("planted")' });
  const { mtimeMs, size } = statSync(join(folder, "lib.py"));
  // The header of a .pyc (PEP 552) holds time and size of the source that it claims to be of.
  const code = `
import importlib.util, marshal, struct, sys
code = compile(open(sys.argv[1]).read(), sys.argv[2], "exec")
head = importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, int(sys.argv[3]), int(sys.argv[4]))
open(importlib.util.cache_from_source(sys.argv[2]), "wb").write(head + marshal.dumps(code))
`;
  mkdirSync(join(folder, "__pycache__"), { recursive: true });
  const args = [join(evil, "lib.py"), join(folder, "lib.py"), String(Math.floor(mtimeMs / 1000)), String(size)];
  execFileSync(python, ["-c", code, ...args], { env });
}

suite("compiled Python code", () => {
  const contents = { "pyproject.toml": "", "s.py": "import lib", "lib.py": 'print("source")' };

  it("planted in __pycache__ is run by plain Python, and not by a measured launch", async () => {
    const folder = testFolder(contents);
    plantCache(folder, pythonPath());
    const plain = execFileSync(pythonPath(), ["s.py"], {
      cwd: folder,
      env: { ...env, PYTHONDONTWRITEBYTECODE: "1" },
      encoding: "utf8",
    });
    expect(plain).toBe("planted\n");
    const measured = await measure(describe(pythonPath(), ["s.py"], { cwd: folder, env }));
    expect(measured.coverage.ignore).toEqual(["**/__pycache__"]);
    expect(runLaunch(measured.launch)).toBe("source\n");
  });

  it("is neither written nor read: both variables are set, to a fresh name in a private folder each time", async () => {
    const folder = testFolder(contents);
    const hostile = { ...env, PYTHONPYCACHEPREFIX: folder, PYTHONDONTWRITEBYTECODE: "" };
    const description = describe(pythonPath(), ["s.py"], { cwd: folder, env: hostile });
    const scratch = join(folder, "scratch");
    const one = (await measureLaunch(description, { measurer, scratch })).launch;
    const two = (await measureLaunch(description, { measurer, scratch })).launch;
    expect(one.env).toMatchObject({
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONPYCACHEPREFIX: expect.stringMatching(`^${scratch}/[0-9a-f]{32}$`),
    });
    expect(one.env["PYTHONPYCACHEPREFIX"]).not.toBe(two.env["PYTHONPYCACHEPREFIX"]);
    expect(statSync(scratch).mode & 0o777).toBe(0o700);
    expect(runLaunch(one)).toBe("source\n");
    expect(existsSync(join(folder, "__pycache__"))).toBe(false);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it("in any other place is measured", async () => {
    const folder = testFolder(contents);
    const description = describe(pythonPath(), ["s.py"], { cwd: folder, env });
    const before = (await measure(description)).digest;
    fill(folder, { "__pycache__/lib.cpython-311.pyc": "x", "sub/__pycache__/x.pyc": "x", "sub/y.py": "" });
    const withCache = (await measure(description)).digest;
    expect(withCache).not.toBe(before);
    fill(folder, { "sub/__pycache__/more.pyc": "x" });
    expect((await measure(description)).digest).toBe(withCache);
    fill(folder, { "lib.pyc": "x" });
    expect((await measure(description)).digest).not.toBe(withCache);
  });

  it("under -I and -E, which ignore the variables, __pycache__ is measured like the rest", async () => {
    for (const option of ["-I", "-E", "-uE", "-Bs -I"]) {
      const folder = testFolder(contents);
      const description = describe(pythonPath(), [...option.split(" "), "s.py"], { cwd: folder, env });
      const before = await measure(description);
      expect(before.coverage.ignore).toEqual([]);
      expect(before.warnings).toHaveLength(option.includes("B") ? 0 : 1);
      plantCache(folder, pythonPath());
      expect((await measure(description)).digest).not.toBe(before.digest);
    }
  });

  it("and what is ignored without being asked for, is measured with measureWhole", async () => {
    const folder = testFolder({
      ...contents,
      "pyproject.toml": "",
      ".git/config": "",
      ".venv/pyvenv.cfg": "home = /usr/bin",
    });
    const whole = describe(pythonPath(), ["s.py"], { cwd: folder, env, measureTarget: folder, measureWhole: true });
    const before = await measure(whole);
    expect(before.coverage).toMatchObject({ root: folder, ignore: [] });
    expect(before.launch.env).toHaveProperty("PYTHONPYCACHEPREFIX");
    for (const file of ["__pycache__/lib.cpython-311.pyc", ".git/hooks/post-checkout", ".venv/lib/x.py"]) {
      const earlier = (await measure(whole)).digest;
      fill(folder, { [file]: "x" });
      expect((await measure(whole)).digest).not.toBe(earlier);
    }
  });

  it("is measured too when a #! line or env takes the variables away", async () => {
    const folder = testFolder({ ...contents, tool: { program: `#!/usr/bin/env -S -i ${pythonPath()}\nimport lib` } });
    const byLine = await measure(describe("./tool", [], { cwd: folder, env }));
    expect(byLine.coverage.ignore).toEqual([]);
    const byCommand = await measure(
      describe("env", ["-u", "PYTHONPYCACHEPREFIX", pythonPath(), "s.py"], { cwd: folder, env }),
    );
    expect(byCommand.coverage.ignore).toEqual([]);
    // Also when it sets them to what they are already: what is listed is replaced, what `env` sets is not.
    const evil = { ...env, PYTHONPYCACHEPREFIX: "/evil" };
    const again = describe("env", ["PYTHONPYCACHEPREFIX=/evil", pythonPath(), "s.py"], { cwd: folder, env: evil });
    expect((await measure(again)).coverage.ignore).toEqual([]);
  });

  it("options in the #! line count", async () => {
    const folder = testFolder({ ...contents, tool: { program: `#!${pythonPath()} -I\nimport lib` } });
    expect((await measure(describe("./tool", [], { cwd: folder, env }))).coverage.ignore).toEqual([]);
  });

  it("that args lead Python to is refused", async () => {
    const folder = testFolder(contents);
    const args = ["-X", `pycache_prefix=${folder}`, "s.py"];
    expect(await refusal(measure(describe(pythonPath(), args, { cwd: folder, env })))).toBe("PYTHON_CACHE_REDIRECTED");
  });

  it("may not be the target itself inside __pycache__", async () => {
    const folder = testFolder({ ...contents, "__pycache__/s.pyc": "x" });
    const description = describe(pythonPath(), ["__pycache__/s.pyc"], { cwd: folder, env });
    expect(await refusal(measure(description))).toBe("TARGET_IGNORED");
  });

  it("is measured for a Python that does not know the variable, and for one of unknown version", async () => {
    const folder = testFolder(contents);
    for (const name of ["python3.7", "python2.7", "python"]) {
      fill(folder, { [`${name}/bin/${name}`]: "" });
      execFileSync("cp", ["/bin/true", join(folder, name, "bin", name)]);
      chmodSync(join(folder, name, "bin", name), 0o755);
      const measured = await measure(describe(join(folder, name, "bin", name), ["s.py"], { cwd: folder, env }));
      expect(measured.coverage.ignore).toEqual([]);
    }
  });
});

suite("a version manager's shim", () => {
  /** A shim as pyenv writes it, a manager that runs `real`, and a trace of every run. */
  function shimFolder(real: string): string {
    const folder = testFolder({ "s.py": whereAmI });
    fill(folder, {
      "shims/python3": {
        program: `#!/usr/bin/env bash\nset -e\nprogram="\${0##*/}"\nexport PYENV_ROOT="${folder}"\nexec "${folder}/pyenv" exec "$program" "$@"\n`,
      },
      pyenv: { program: `#!/bin/sh\necho "$@" >>"${folder}/asked"\nshift 2\nexec ${real} "$@"\n` },
    });
    return folder;
  }
  const shimEnv = (folder: string): Record<string, string> => ({ PATH: `${folder}/shims:/usr/bin:/bin` });

  it("is recorded as such, with the interpreter that it answers when it is asked once", async () => {
    // The interpreter behind it is reached through a link, as pyenv's are.
    const behind = join(testFolder({ python: { link: pythonPath() } }), "python");
    const folder = shimFolder(behind);
    const measured = await measure(describe("python3", ["s.py"], { cwd: folder, env: shimEnv(folder) }));
    expect(measured.interpreter).toMatchObject({
      kind: "shim",
      family: "python",
      path: join(folder, "shims/python3"),
      answer: behind,
      realPath: pythonPath(),
    });
    expect(measured.interpreter?.parts[0]).toMatchObject({ path: join(folder, "shims/python3") });
    expect(measured.target).toMatchObject({ path: join(folder, "s.py"), inArgv: true });
    expect(execFileSync("wc", ["-l", join(folder, "asked")], { encoding: "utf8" })).toMatch(/^1 /);
    expect(runLaunch(measured.launch)).toContain("s.py");
  });

  it("is recognised behind a script's #! line", async () => {
    const folder = shimFolder(pythonPath());
    fill(folder, { tool: { program: `#!/usr/bin/env python3\n${whereAmI}` } });
    const measured = await measure(describe("./tool", [], { cwd: folder, env: shimEnv(folder) }));
    expect(measured.interpreter).toMatchObject({ kind: "shim", realPath: pythonPath() });
    expect(measured.target.path).toBe(join(folder, "tool"));
  });

  it("is asked without the variables that would load code", async () => {
    const folder = shimFolder(pythonPath());
    fill(folder, { "evil/sitecustomize.py": 'open("evil-ran", "w")' });
    const hostile = { ...shimEnv(folder), PYTHONPATH: join(folder, "evil"), BASH_ENV: join(folder, "pyenv") };
    await measure(describe("python3", ["s.py"], { cwd: folder, env: hostile }));
    expect(existsSync(join(folder, "evil-ran"))).toBe(false);
  });

  it("that gives no usable answer is refused with advice", async () => {
    for (const real of [
      "echo relative",
      "echo /no/such/python",
      "false",
      "echo /etc/passwd",
      "head -c 100000 /dev/zero",
    ]) {
      const folder = shimFolder(real);
      const promise = measure(describe("python3", ["s.py"], { cwd: folder, env: shimEnv(folder) }));
      await expect(promise).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:SHIM_UNRESOLVED|EXECUTABLE_FORMAT_UNKNOWN)$/),
        advice: expect.stringContaining("command"),
      });
    }
  });

  it("for a tool that is no interpreter is refused, with the line that tells the real program", async () => {
    const folder = shimFolder(pythonPath());
    renameSync(join(folder, "shims/python3"), join(folder, "shims/mcp-server"));
    await expect(measure(describe("mcp-server", [], { env: shimEnv(folder) }))).rejects.toMatchObject({
      code: "COMMAND_IS_SHIM",
      advice: expect.stringContaining("pyenv which mcp-server"),
    });
  });

  it("may be a link to the manager's own program, as volta and mise do", async () => {
    const folder = testFolder({ "bin/node": { link: "volta-shim" }, "bin/tool": { link: "volta-shim" }, "s.js": "" });
    fill(folder, { "bin/volta-shim": "" });
    execFileSync("cp", [process.execPath, join(folder, "bin/volta-shim")]);
    chmodSync(join(folder, "bin/volta-shim"), 0o755);
    const measured = await measure(describe(join(folder, "bin/node"), ["s.js"], { cwd: folder, env }));
    expect(measured.interpreter).toMatchObject({
      kind: "shim",
      family: "node",
      answer: join(folder, "bin/volta-shim"),
    });
    expect(await refusal(measure(describe(join(folder, "bin/tool"), [], { env })))).toBe("COMMAND_IS_SHIM");
    expect(dirname(measured.interpreter?.realPath ?? "")).toBe(join(folder, "bin"));
  });
});
