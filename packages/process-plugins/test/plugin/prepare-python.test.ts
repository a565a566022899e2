import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { partTest, scratchFolder } from "../../../../fixtures/parts.js";
import { pythonPreparer } from "./fixture-plugin.js";

let repository = "";
let uvLog = "";

beforeEach(() => {
  repository = realpathSync(mkdtempSync(join(tmpdir(), "berth-python-")));
  uvLog = join(repository, "uv.log");
});

afterEach(() => rmSync(repository, { recursive: true, force: true }));

const cacheFolder = (): string => join(repository, "node_modules", ".cache", "ave-python-smoke", "python");

function program(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** Without `#!`, since a script is refused: the system gives it to its shell all the same. */
const python = (version: string, name = "python3"): string =>
  program(join(repository, "pythons", name), `echo ${version} cpython-test\n`);

/** A uv that writes down what it was asked. */
const uv = (find: string, install = "exit 9"): string =>
  program(
    join(repository, ".scratch", "uv", "bin", "uv"),
    `#!/bin/sh\necho "$2 in $UV_PYTHON_INSTALL_DIR: $*" >>'${uvLog}'\ncase $2 in find) ${find} ;; *) ${install} ;; esac\n`,
  );

interface Found {
  readonly status: number | null;
  readonly path: string;
  readonly why: string;
}

/** Nothing of who runs the tests may decide. */
function find(env: Readonly<Record<string, string>> = {}): Found {
  // A Python on PATH tells that it was called.
  const bin = dirname(program(join(repository, "bin", "python3"), `#!/bin/sh\necho called >'${repository}/called'\n`));
  program(join(bin, "python"), `#!/bin/sh\necho called >'${repository}/called'\n`);
  const own = { PATH: [bin, "/usr/bin", "/bin"].join(delimiter), HOME: repository, ...env };
  const args = [pythonPreparer, "--find", "--repository", repository];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env: own, encoding: "utf8" });
  expect(existsSync(join(repository, "called"))).toBe(false);
  return { status, path: stdout.trim(), why: stderr.trim() };
}

const asked = (): readonly string[] => readFileSync(uvLog, "utf8").trim().split("\n");

describe("the Python of smoke-mcp", () => {
  it("is exactly what AVE_SMOKE_PYTHON names", () => {
    uv("exit 1");
    const named = python("3.10");
    expect(find({ AVE_SMOKE_PYTHON: named })).toEqual({ status: 0, path: named, why: "" });
    expect(existsSync(uvLog)).toBe(false);
  });

  it.each([
    { what: "is not there", make: () => "/nonexistent/python3", why: "which is not there" },
    { what: "is no absolute path", make: () => "python3", why: "which is no absolute path" },
    { what: "is empty", make: () => "", why: "which is no absolute path" },
    { what: "is a folder", make: () => "/usr", why: "which is no file" },
    {
      what: "may not be executed",
      make: () => {
        const path = python("3.13");
        chmodSync(path, 0o644);
        return path;
      },
      why: "which may not be executed",
    },
    {
      what: "is a shim",
      make: () => program(join(repository, "shim"), "#!/bin/sh\nexec python3\n"),
      why: "which is a script: name the interpreter that it starts",
    },
    { what: "is older than 3.10", make: () => python("3.9"), why: "which is Python 3.9; it has to be 3.10 or later" },
    {
      what: "is of another major version",
      make: () => python("2.7"),
      why: "which is Python 2.7; it has to be 3.10 or later",
    },
    {
      what: "says nothing",
      make: () => program(join(repository, "silent"), "true\n"),
      why: "which did not tell its version",
    },
    { what: "fails", make: () => program(join(repository, "failing"), "exit 7\n"), why: "ended with 7" },
    {
      what: "does not answer",
      make: () => program(join(repository, "slow"), "exec sleep 60\n"),
      why: "did not end within 10000 ms",
    },
  ])("is an error, and nothing else is tried, when what AVE_SMOKE_PYTHON names $what", ({ make, why }) => {
    uv(`echo ${cacheFolder()}/python3`);
    const named = make();
    const found = find({ AVE_SMOKE_PYTHON: named });
    expect(found).toMatchObject({ status: 1, path: "" });
    expect(found.why).toContain(`AVE_SMOKE_PYTHON is ${named}, `);
    expect(found.why).toContain(why);
    expect(existsSync(uvLog)).toBe(false);
  });

  it("is the one that uv manages in the repository's cache, and is not installed again", () => {
    const managed = program(join(cacheFolder(), "cpython-3.13", "bin", "python3.13"), "echo 3.13 cpython-313\n");
    uv(`echo '${managed}'`);
    expect(find()).toEqual({ status: 0, path: managed, why: "" });
    expect(asked()).toHaveLength(1);
    expect(asked()[0]).toMatch(
      /^find in .*\/node_modules\/\.cache\/ave-python-smoke\/python: python find .*--managed-python/,
    );
  });

  it("is installed there by uv when it is missing", () => {
    const managed = join(cacheFolder(), "cpython-3.13", "bin", "python3.13");
    const install = `mkdir -p '${dirname(managed)}'; echo 'echo 3.13 cpython-313' >'${managed}'; chmod 755 '${managed}'`;
    uv(`if [ -e '${managed}' ]; then echo '${managed}'; else exit 2; fi`, install);
    expect(find()).toEqual({ status: 0, path: managed, why: "" });
    expect(asked().map((line) => line.split(" ")[0])).toEqual(["find", "install", "find"]);
    expect(asked()[1]).toContain(`--managed-python --no-config --install-dir ${cacheFolder()} 3.13`);
  });

  it("is not led elsewhere by an environment or a setting of who runs it", () => {
    const managed = program(join(cacheFolder(), "bin", "python3.13"), "echo 3.13 cpython-313\n");
    uv(`if [ -n "$VIRTUAL_ENV" ]; then exit 1; else echo '${managed}'; fi`);
    expect(find({ VIRTUAL_ENV: "/somewhere", UV_PYTHON_INSTALL_DIR: "/elsewhere" })).toMatchObject({ status: 0 });
    expect(asked()[0]).not.toContain("elsewhere");
  });

  it.each([
    { what: "it is outside of that cache", make: () => python("3.13"), why: "which is not in" },
    {
      what: "it is too old",
      make: () => program(join(cacheFolder(), "python3"), "echo 3.9 x\n"),
      why: "which is Python 3.9",
    },
  ])("is an error when $what", ({ make, why }) => {
    uv(`echo '${make()}'`);
    const found = find();
    expect(found.status).toBe(1);
    expect(found.why).toContain(why);
  });

  it.each([
    { env: {}, status: 3, means: "tests are skipped with the reason" },
    { env: { CI: "true" }, status: 1, means: "and that is a failure where CI is true" },
  ])("is none without uv and without AVE_SMOKE_PYTHON: $means", ({ env, status }) => {
    const why = `no interpreter: AVE_SMOKE_PYTHON is not set, and there is no uv at ${repository}/.scratch/uv/bin/uv`;
    expect(find(env)).toEqual({ status, path: "", why });
  });

  it("is none when uv cannot install one, with what it said", () => {
    uv("exit 2", "echo 'no route to the archive' >&2; exit 5");
    const found = find();
    expect(found.status).toBe(3);
    expect(found.why).toMatch(
      /^no interpreter: .*uv could not install a Python: .* ended with 5: no route to the archive$/,
    );
  });

  const withRealUv = (): void => {
    mkdirSync(join(repository, ".scratch"));
    symlinkSync(join(scratchFolder, "uv"), join(repository, ".scratch", "uv"));
  };

  partTest("uv")("is none with the real uv and without a network, and it says so", () => {
    withRealUv();
    const found = find({ UV_OFFLINE: "1" });
    expect(found.status).toBe(3);
    expect(found.why).toContain("uv could not install a Python");
  });

  partTest("uv", "uv-python")(
    "is installed by the real uv",
    () => {
      withRealUv();
      const found = find();
      expect(found.why).toBe("");
      expect(found.path.startsWith(`${cacheFolder()}/`)).toBe(true);
    },
    600_000,
  );
});
