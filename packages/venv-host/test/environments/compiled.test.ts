import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { type PartName, partTest, scratchFolder } from "../../../../fixtures/parts.js";
import type { ConfinePolicy, HeldEnvironment } from "../../src/index.js";
import { environment, sourceThat } from "./acting-source.js";
import { largeSource } from "./compiling.js";
import { makeWheel, makeWorld, preferUv, python, says, type World } from "./world.js";

const installer = preferUv();
const installers = installer === "uv" ? (["uv", "pip"] as const) : (["pip"] as const);
const venvTest = partTest("python3", "python3-venv");

/** An environment of these requirements, and the steps on the way to it. */
async function built(
  world: World,
  requirements: string,
  more: Parameters<World["open"]>[0] = {},
  interpreter = python,
): Promise<HeldEnvironment & { readonly steps: readonly string[] }> {
  const steps: string[] = [];
  const store = await world.open(more);
  const held = await store.acquire({ interpreter, requirements }, { onProgress: (step) => steps.push(step) });
  return { ...held, steps };
}

// What an import does with a cache (Python's import system, § Cached bytecode invalidation), asked of the environment itself.
const caches = `
import importlib.util, json, marshal, os, sys
told = {}
for folder, folders, files in os.walk(sys.argv[1]):
  for name in files:
    path = os.path.join(folder, name)
    cache = importlib.util.cache_from_source(path) if name.endswith(".py") else ""
    if not os.path.isfile(cache): continue
    with open(cache, "rb") as file: content = file.read()
    stat = os.stat(path)
    head = importlib.util.MAGIC_NUMBER + bytes(4)
    head += (int(stat.st_mtime) & 0xffffffff).to_bytes(4, "little") + (stat.st_size & 0xffffffff).to_bytes(4, "little")
    told[os.path.relpath(path, sys.argv[1])] = content[:16] == head and marshal.loads(content[16:]).co_filename == path
print(json.dumps(told))
`;

/** The modules of an environment that have a cache, and whether it is that of their file as it stands there. */
function cachesOf(held: HeldEnvironment): Readonly<Record<string, boolean>> {
  return JSON.parse(says(held.python, ["-I", "-S", "-c", caches, held.sitePackages]));
}

describe.each(installers)("what %s installed", (each) => {
  for (const interpreter of ["python3", "python3.10", "python3.12", "python3.13"] as const satisfies PartName[]) {
    partTest(interpreter, "python3-venv")(
      `with ${interpreter} is compiled, each module for the very file that is imported`,
      async () => {
        const world = makeWorld(each);
        const files = { "fig/a.py": "x = 1\n", "fig/b/__init__.py": "", "fig/b/c.py": "def f():\n  return 1\n" };
        makeWheel(world.wheels, "fig", "1.0", files);
        const held = await built(world, world.write("fig.txt", "fig\n"), {}, interpreter);
        const names = ["fig/__init__.py", ...Object.keys(files)];
        expect(cachesOf(held)).toEqual(Object.fromEntries(names.map((name) => [name, true])));
        expect(held.steps).toEqual([
          "creating the environment",
          expect.stringMatching(new RegExp(`^installing with ${each} `)),
          "compiling 4 modules",
          "checking what was installed",
        ]);
        const said = spawnSync(held.python, ["-B", "-v", "-c", "import fig.b.c"], { encoding: "utf8" }).stderr;
        expect(said).toContain(`code object from '${held.sitePackages}/fig/b/__pycache__/c.`);
        expect((await (await world.open()).list())[0]).toMatchObject({ state: "ready" });
      },
      60_000,
    );
  }

  venvTest("is compiled also where its host has the installer do so", async () => {
    const world = makeWorld(each);
    const held = await built(world, world.requirements, { env: { UV_COMPILE_BYTECODE: "1", PIP_COMPILE: "1" } });
    expect(cachesOf(held)).toEqual({ "apple/__init__.py": true });
  });

  venvTest("runs nothing of itself while it is compiled", async () => {
    const world = makeWorld(each);
    const ran = join(world.folder, "ran");
    const writes = `open(${JSON.stringify(ran)}, "a").write(__name__ + "\\n")\n`;
    const shadows = [
      "gc",
      "json",
      "marshal",
      "mmap",
      "resource",
      "select",
      "struct",
      "encodings",
      "importlib",
      "codecs",
    ];
    makeWheel(world.wheels, "sly", "1.0", {
      "sly_.pth": `import sys; exec(${JSON.stringify(`__name__ = "pth"; ${writes.trim()}`)})\n`,
      "sitecustomize.py": writes,
      "usercustomize.py": writes,
      "sly_codec.py": `# -*- coding: sly_codec -*-\n${writes}`,
      "sly/__init__.py": writes,
      ...Object.fromEntries(shadows.map((name) => [`${name}.py`, writes])),
    });
    const held = await built(world, world.write("sly.txt", "sly\n"));
    expect(existsSync(ran)).toBe(false);
    expect(Object.keys(cachesOf(held))).toContain("sitecustomize.py");
    expect(existsSync(ran)).toBe(false);
    execFileSync(held.python, ["-c", "import sly"]);
    const told = readFileSync(ran, "utf8");
    // Debian's Python has one of its own, which goes first.
    const isFirst = says(python, [
      "-S",
      "-c",
      "import importlib.util as u; print(u.find_spec('sitecustomize') is None)",
    ]);
    for (const name of ["pth", "sly", ...(isFirst === "True" ? ["sitecustomize"] : [])])
      expect(told, "the control").toMatch(new RegExp(`^${name}$`, "m"));
  });

  venvTest(
    "is used uncompiled when the compiler cannot be run, and that is told",
    async () => {
      for (const [program, why] of [
        [
          "echo no >&2; exit 3",
          /^WARNING: modules are left to be compiled .*: compile: .* ended with exit code 3: no$/,
        ],
        ["exit 0", /^WARNING: modules are left to be compiled .*: it did not say what it did$/],
        ["kill -9 $$", /^WARNING: modules are left to be compiled .*: compile: .* was ended by a signal$/],
        [undefined, /^WARNING: modules are left to be compiled .* cannot be confined on this machine/],
      ] as const) {
        const world = makeWorld(each);
        const confine = async (argv: readonly string[], { name }: ConfinePolicy) => {
          const isCompiler = name.startsWith("compile ");
          if (isCompiler && program === undefined) throw new Error("not here");
          const command = isCompiler ? ["/bin/sh", "-c", program ?? ""] : argv;
          return { argv: command, confinement: "a test", release: async () => {} };
        };
        const held = await built(world, world.requirements, { confine });
        expect(held.steps.filter((step) => step.startsWith("WARNING"))).toEqual([expect.stringMatching(why)]);
        expect([says(held.python, ["-B", "-c", "import apple; print(apple.told)"]), cachesOf(held)]).toEqual([
          "apple 1.0",
          {},
        ]);
      }
    },
    60_000,
  );
});

// All but the paths is compared: code is equal where it was compiled from the same.
const compare = `
import compileall, json, marshal, os, sys
def caches():
  found = {}
  for folder, _, names in os.walk(sys.argv[1]):
    for path in [os.path.join(folder, name) for name in names if name.endswith(".pyc")]:
      with open(path, "rb") as file: found[path] = file.read()
  return found
ours = caches()
for path in ours: os.unlink(path)
compileall.compile_dir(sys.argv[1], quiet=2, workers=0)
theirs = caches()
parts = lambda content: (content[:16], marshal.loads(content[16:]))
same = [path for path in theirs if path in ours and parts(ours[path]) == parts(theirs[path])]
print(json.dumps({"same": len(same), "other": [*{*ours, *theirs} - {*same}]}))
`;

describe("the compiler of modules", () => {
  venvTest("is confined to the environment, without a network", async () => {
    const world = makeWorld(installer);
    const policies: ConfinePolicy[] = [];
    const released: string[] = [];
    const held = await built(world, world.requirements, {
      confine: async (argv, policy) => {
        policies.push(policy);
        return { argv, confinement: "a test", release: async () => void released.push(policy.name) };
      },
    });
    const policy = policies.find(({ name }) => name.startsWith("compile "));
    const place = expect.stringMatching(new RegExp(`^${world.storePath}/tmp/${held.key}\\.[0-9a-f]+/venv$`));
    expect(policy).toMatchObject({ writable: [place], network: "none", cwd: place });
    expect(policy?.readable.filter((path) => path.startsWith(world.folder))).toEqual([]);
    expect(released).toEqual(policies.map(({ name }) => name));
  });

  partTest("cpex-wheels", "uv")(
    "makes the same caches of published distributions as Python's own compileall",
    async () => {
      const world = makeWorld("uv");
      const index = { from: "wheels", folders: [join(scratchFolder, "cpex-wheels")] } as const;
      const held = await built(world, world.write("cpex.txt", "cpex==0.1.4\n"), { index }, "python3");
      const before = cachesOf(held);
      expect(Object.values(before).filter((isRight) => !isRight)).toEqual([]);
      const outcome: unknown = JSON.parse(says(held.python, ["-I", "-S", "-c", compare, held.sitePackages]));
      expect(outcome).toEqual({ same: Object.keys(before).length, other: [] });
      expect(Object.keys(before).length).toBeGreaterThan(1_500);
    },
    180_000,
  );
});

/** What the code of a source distribution leaves in the environment, and what must be so afterwards. */
interface Planted {
  readonly name: string;
  /** Python; `site` is the folder of packages, `out` one outside, `tag` that of caches. */
  readonly program: string;
  /** How many of the modules are compiled, `acts_it.py` among them. */
  readonly told?: string;
  /** Python that the environment runs. */
  readonly check?: string;
}

const cannot = (compiled: number, modules: number): string =>
  `${modules - compiled} of ${modules} modules could not be compiled`;

const planted: readonly Planted[] = [
  {
    name: "a link for a module",
    program: 'os.symlink(out + "/secret.py", site + "/linked.py")',
    told: cannot(1, 2),
    check: "import linked; assert linked.x == 1",
  },
  {
    name: "a link for a package",
    program: 'os.symlink(out, site + "/linked")',
    check: "import linked.secret",
  },
  {
    name: "a link for the folder of caches",
    program: 'os.mkdir(site + "/p"); open(site + "/p/m.py", "w"); os.symlink(out, site + "/p/__pycache__")',
    told: cannot(1, 2),
    check: "import p.m",
  },
  {
    name: "a link, a second name and a pipe for caches",
    program: `
os.mkdir(site + "/__pycache__")
for name in "abc": open(f"{site}/{name}.py", "w").write("x = 1\\n")
os.symlink(out + "/secret.py", f"{site}/__pycache__/a.{tag}.pyc")
os.link(out + "/secret.py", f"{site}/__pycache__/b.{tag}.pyc")
os.mkfifo(f"{site}/__pycache__/c.{tag}.pyc")`,
    check: "import a, b, c; assert a.x == b.x == c.x == 1",
  },
  {
    name: "a folder for a cache",
    program: 'open(site + "/a.py", "w"); os.makedirs(f"{site}/__pycache__/a.{tag}.pyc/inner")',
    told: cannot(1, 2),
    check: "import a",
  },
  {
    name: "pipes and folders for modules",
    program: 'os.mkfifo(site + "/pipe.py"); os.mkdir(site + "/folder.py"); open(site + "/folder.py/m.py", "w")',
    told: cannot(2, 3),
  },
  {
    name: "caches that say something else than their modules",
    program: `
import importlib.util, marshal
os.mkdir(site + "/__pycache__")
for name, text in [("good", "x = 1\\n"), ("bad", "x = \\n")]:
  open(f"{site}/{name}.py", "w").write(text)
  other = marshal.dumps(compile("x = 2", name, "exec"))
  head = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)  # never compared with the source
  open(f"{site}/__pycache__/{name}.{tag}.pyc", "wb").write(head + other)`,
    told: cannot(2, 3),
    check: `
import good; assert good.x == 1
try: import bad; assert False
except SyntaxError: pass`,
  },
  {
    name: "sources that are none, and those that warn",
    program: `
open(site + "/a.py", "w").write("def\\n")
open(site + "/b.py", "wb").write(b"x = 1\\0\\n")
open(site + "/c.py", "wb").write(b"x = '\\xff'\\n")
open(site + "/d.py", "w").write("# -*- coding: no-such -*-\\n")
open(site + "/e.py", "w").write("# -*- coding: rot13 -*-\\n")
open(site + "/g.py", "wb").write(b"# -*- coding: latin-1 -*-\\nx = '\\xff'\\n")
open(site + "/h.py", "w").write("x = 1 is 1; y = '\\\\d'\\n")`,
    told: cannot(3, 8),
    check: "import g; assert g.x == chr(255)",
  },
  {
    name: "sources that are nested too deeply",
    program: `
texts = ["("*5000 + ")"*5000, "-"*200000 + "1", "a" + ".b"*200000, "+".join("a"*200000), "not "*200000 + "1",
  "lambda:"*20000 + "1", "if a: pass\\n" + "elif a: pass\\n"*50000, "["*60 + "x" + " for x in y]"*60]
for at, text in enumerate(texts): open(f"{site}/m{at}.py", "w").write(text + "\\n")
open(site + "/quick.py", "w").write("x = 1")`,
  },
  {
    name: "sources that take much memory, or are long",
    program: `
open(site + "/large.py", "w").write(${JSON.stringify(largeSource)})
open(site + "/long.py", "wb").truncate(2**40)
open(site + "/quick.py", "w").write("x = 1")`,
    told: cannot(2, 4),
  },
  {
    name: "names of all kinds",
    program: `
for name in [b"\\xff.py", b"a\\nb.py", b".py", b"c" * 250 + b".py", b"-.py", "\u00e9.py".encode()]:
  open(site.encode() + b"/" + name, "w")`,
    told: cannot(5, 6),
  },
  {
    name: "folders in each other without an end",
    program: `
folder = site
for at in range(200):
  folder += "/d"
  os.mkdir(folder)
  open(folder + "/m.py", "w")`,
  },
];

describe("an environment in which is", () => {
  for (const { name, program, told, check } of planted) {
    venvTest(
      `${name} is built, and nothing is written outside of it`,
      async () => {
        const world = makeWorld(installer);
        const out = join(world.folder, "out");
        mkdirSync(out);
        writeFileSync(join(out, "secret.py"), "x = 1\n");
        const names = `import glob, sys\nsite = glob.glob(there + "/lib/*/site-packages")[0]\nout = ${JSON.stringify(out)}\ntag = sys.implementation.cache_tag\n`;
        const held = await built(world, sourceThat(world, environment + names + program));
        const last = held.steps.slice(held.steps.findIndex((step) => step.startsWith("compiling ")) + 1, -1);
        if (told !== undefined) expect(last).toEqual([told]);
        expect(last.filter((step) => step.startsWith("WARNING"))).toEqual([]);
        expect([readdirSync(out), readFileSync(join(out, "secret.py"), "utf8")]).toEqual([["secret.py"], "x = 1\n"]);
        says(held.python, ["-B", "-c", `import acts_it\n${check ?? ""}`]);
        const right = cachesOf(held);
        expect(right).toMatchObject({ "acts_it.py": true });
        expect(Object.values(right)).not.toContain(false);
        expect(readdirSync(join(world.storePath, "tmp"))).toEqual([]);
      },
      60_000,
    );
  }
});
