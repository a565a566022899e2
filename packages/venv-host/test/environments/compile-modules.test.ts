/** The program that compiles, by itself: with bounds that a build of the store leaves as they are. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect } from "vitest";
import { type PartName, partTest } from "../../../../fixtures/parts.js";
import { compileIn, folderOf, largeSource, slowSource, startCompiler } from "./compiling.js";
import { python, says } from "./world.js";

const test = partTest("python3");
const tag = (interpreter: string): string =>
  execFileSync(interpreter, ["-c", "import sys; print(sys.implementation.cache_tag)"], { encoding: "utf8" }).trim();
const cacheOf = (folder: string, name: string, interpreter = python): string =>
  join(folder, "lib", "__pycache__", `${name}.${tag(interpreter)}.pyc`);

/** The caches below a folder that an interpreter would take and that are not whole. */
function cutShort(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".pyc"));
  const program = `import importlib.util, json, marshal, sys
found = []
for name in json.loads(sys.argv[1]):
  content = open(name, "rb").read()
  if content[:4] == importlib.util.MAGIC_NUMBER:
    try: marshal.loads(content[16:])
    except Exception: found.append(name)
print(json.dumps(found))`;
  return JSON.parse(says(python, ["-c", program, JSON.stringify(names.map((name) => join(folder, name)))]));
}

describe("the compiler of modules", () => {
  test("gives up a module that takes too long, and goes on", async () => {
    const folder = folderOf({
      "lib/slow.py": slowSource(20),
      "lib/slower.py": slowSource(21),
      "lib/quick.py": "x = 1\n",
    });
    expect(await compileIn(folder, { limits: { maxModuleSeconds: 1, maxWorkers: 2 } })).toEqual({
      modules: 3,
      compiled: 1,
      stopped: null,
    });
    expect([existsSync(cacheOf(folder, "quick")), existsSync(cacheOf(folder, "slow"))]).toEqual([true, false]);
  });

  test("gives up all, and says so, when too many take too long", async () => {
    const slow = [1, 2, 3].map((at) => [`lib/slow${at}.py`, slowSource(20)]);
    const folder = folderOf({ ...Object.fromEntries(slow), "lib/quick.py": "x = 1\n" });
    expect(await compileIn(folder, { limits: { maxModuleSeconds: 1, maxDeaths: 1, maxWorkers: 1 } })).toEqual({
      modules: 4,
      compiled: 0,
      stopped: "the compiler died over 2 modules",
    });
  });

  test("ends in the time that it has", async () => {
    const folder = folderOf({ "lib/slow.py": slowSource(20), "lib/quick.py": "x = 1\n" });
    expect(await compileIn(folder, { limits: { maxSeconds: 1, maxWorkers: 1 } })).toEqual({
      modules: 2,
      compiled: 0,
      stopped: "it took too long",
    });
  });

  test("gives up a module that takes too much memory, or is too long, and goes on", async () => {
    const folder = folderOf({
      "lib/large.py": largeSource,
      "lib/long.py": `x = "${"y".repeat(1_000_000)}"\n`,
      "lib/quick.py": "x = 1\n",
    });
    const limits = { maxSourceBytes: 1_000_000, maxMemoryBytes: 300_000_000 };
    expect(await compileIn(folder, { limits })).toEqual({ modules: 3, compiled: 1, stopped: null });
  });

  test("keeps to less memory where its host may not have as much", async () => {
    const folder = folderOf({ "lib/large.py": largeSource, "lib/quick.py": "x = 1\n" });
    const by = ["/bin/sh", "-c", 'ulimit -v 300000; exec "$@"', "sh"];
    expect(await compileIn(folder, { by })).toEqual({ modules: 2, compiled: 1, stopped: null });
  });

  // The compiler of these calls itself for each, and its stack ends.
  const nested = `${"[".repeat(60)}x${" for x in y]".repeat(60)}\n`;
  for (const [name, interpreter] of [
    ["python3", python],
    ["python3.10", "python3.10"],
    ["python3.12", "python3.12"],
    ["python3.13", "python3.13"],
  ] as const satisfies readonly (readonly [PartName, string])[]) {
    partTest(name)(`of ${name} takes one that kills it for none, also when there are some`, async () => {
      const folder = folderOf({ "lib/a.py": nested, "lib/b.py": nested, "lib/quick.py": "x = 1\n" });
      const outcome = await compileIn(folder, { interpreter });
      expect(outcome).toMatchObject({ modules: 3, stopped: null });
      expect(existsSync(cacheOf(folder, "quick", interpreter))).toBe(true);
    });
  }

  test("stops looking at its bounds of modules and depth", async () => {
    const deep = "d/".repeat(10);
    const folder = folderOf({ "lib/a.py": "", "lib/b.py": "", "lib/c.py": "", [`lib/${deep}e.py`]: "" });
    expect(await compileIn(folder, { limits: { maxModules: 2 } })).toMatchObject({
      stopped: "there are more, which are not",
    });
    expect(await compileIn(folder, { limits: { maxDepth: 10 } })).toMatchObject({ modules: 3, compiled: 3 });
    expect(await compileIn(folder, { limits: { maxDepth: 11 } })).toMatchObject({ modules: 4, compiled: 4 });
  });

  test("compiles more modules than a pipe holds numbers, each once", async () => {
    const files = Array.from({ length: 20_000 }, (_, at) => [`lib/p${at % 100}/m${at}.py`, ""]);
    const folder = folderOf(Object.fromEntries(files));
    expect(await compileIn(folder)).toEqual({ modules: 20_000, compiled: 20_000, stopped: null });
  }, 60_000);

  test("leaves no cache of what could not be written whole", async () => {
    const folder = folderOf({ "lib/long.py": `x = "${"y".repeat(100_000)}"\n`, "lib/quick.py": "x = 1\n" });
    const by = ["/bin/sh", "-c", 'ulimit -f 16; exec "$@"', "sh"];
    expect(await compileIn(folder, { by })).toEqual({ modules: 2, compiled: 1, stopped: null });
    expect(existsSync(cacheOf(folder, "long"))).toBe(false);
  });

  test("that is killed leaves no cache that would be taken and is not whole", async () => {
    const source = Array.from({ length: 300 }, (_, at) => `def f${at}(a, b=${at}):\n  return a + b\n`).join("");
    const files = Array.from({ length: 200 }, (_, at) => [`lib/m${at}.py`, source]);
    for (const enough of [1, 20, 40, 60, 80]) {
      const folder = folderOf(Object.fromEntries(files));
      const child = await startCompiler(folder);
      const caches = join(folder, "lib", "__pycache__");
      const signal = AbortSignal.timeout(30_000);
      while (!existsSync(caches) || readdirSync(caches).length < enough) {
        await turn();
        signal.throwIfAborted();
      }
      if (child.pid === undefined) throw new Error("no process");
      process.kill(-child.pid, "SIGKILL");
      await once(child, "close");
      expect(readdirSync(caches).length, "the control: it was not at its end").toBeLessThan(200);
      expect(cutShort(folder)).toEqual([]);
    }
  }, 60_000);

  test("gives a cache the rights of its module, and no others", async () => {
    const folder = folderOf({ "lib/closed.py": "", "lib/open.py": "" });
    chmodSync(join(folder, "lib/closed.py"), 0o6700);
    await compileIn(folder);
    expect(["closed", "open"].map((name) => statSync(cacheOf(folder, name)).mode & 0o7777)).toEqual([0o600, 0o644]);
  });

  partTest("python3", "ordinary-user")("passes over what this user may not read or write", async () => {
    const names = ["lib/quick.py", "lib/unread.py", "lib/closed/a.py", "lib/fixed/b.py"];
    const folder = folderOf(Object.fromEntries(names.map((name) => [name, "x = 1\n"])));
    execFileSync("chown", ["-R", "65534:65534", folder]);
    for (const [name, mode] of [
      ["unread.py", 0],
      ["closed", 0],
      ["fixed", 0o500],
    ] as const)
      chmodSync(join(folder, "lib", name), mode);
    const by = ["setpriv", "--reuid", "65534", "--clear-groups"];
    expect(await compileIn(folder, { by })).toEqual({ modules: 3, compiled: 1, stopped: null });
    expect(existsSync(cacheOf(folder, "quick"))).toBe(true);
  });

  test("of an environment without the folder has nothing to do", async () => {
    expect(await compileIn(folderOf({ other: "" }))).toEqual({ modules: 0, compiled: 0, stopped: null });
  });

  test("is one short file that imports nothing but the standard library", () => {
    const source = readFileSync(new URL("../../python/compile_modules.py", import.meta.url), "utf8");
    expect(source.split("\n").length).toBeLessThan(300);
    const names = [...source.matchAll(/^\s*(?:from|import) (\w+)/gm)].map(([, module]) => module);
    expect(says(python, ["-I", "-S", "-c", `import ${names.join(", ")}; print("all")`])).toBe("all");
  });
});
