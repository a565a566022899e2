import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { entryOf, makeCwd, makeEnvironment, openPlugin, processesOf } from "./plugins.js";

/** A host's folder with one package. */
function cwdWith(source: string): string {
  const cwd = makeCwd();
  mkdirSync(join(cwd, "plugins", "my_pkg"));
  writeFileSync(join(cwd, "plugins", "my_pkg", "__init__.py"), "");
  writeFileSync(join(cwd, "plugins", "my_pkg", "filters.py"), source);
  return cwd;
}

const guard = "class Guard:\n    def __init__(self, config):\n        raise ValueError('an instance was made')\n";
const entry = entryOf("", { config: { class_name: "my_pkg.filters.Guard" } });

describe("a plugin whose class is imported first", () => {
  it("is opened without an instance of it, whatever its module prints and starts", async () => {
    const noisy =
      "import threading, time\nprint('x' * 100_000)\nthreading.Thread(target=time.sleep, args=(3600,)).start()\n";
    const plugin = await openPlugin(entry, { cwd: cwdWith(noisy + guard), importsFirst: true });
    expect(await plugin.health({})).toMatchObject({ state: "ready" });
  });

  it.each([
    {
      name: "its module is not there",
      source: guard,
      className: "my_pkg.filter.Guard",
      says: /^import of `my_pkg\.filter` failed: No module named 'my_pkg\.filter' \(there is no my_pkg\.filter in /u,
    },
    {
      name: "its class is not there",
      source: guard,
      className: "my_pkg.filters.Gard",
      says: /^import of `my_pkg\.filters` failed: it has no class `Gard`$/u,
    },
    {
      name: "it needs what is not there",
      source: "import numpi\n",
      says: /failed: No module named 'numpi' \(it needs numpi/u,
    },
    {
      name: "its code cannot be read",
      source: "class Guard(:\n",
      says: /^import of `my_pkg\.filters` failed: invalid syntax/u,
    },
    {
      name: "its module raises",
      source: "raise ValueError('no key')\n",
      says: /^import of `my_pkg\.filters` failed: no key$/u,
    },
    { name: "its module ends the program", source: "import sys\nsys.exit()\n", says: /failed: SystemExit$/u },
    {
      name: "its module ends the process",
      source: "import os\nos._exit(7)\n",
      says: /failed: the process .* ended with code 7$/u,
    },
    {
      name: "its module crashes",
      source: "import os\nos.abort()\n",
      says: /failed: the process .* ended by SIGABRT$/u,
    },
    {
      name: "its module says more than a line may have",
      source: "raise ValueError('\\u00e9' * 1_000_000)\n",
      says: /failed: \u00e9{2000}$/u,
    },
    {
      name: "its module does not end",
      source: "import time\ntime.sleep(3600)\n",
      says: /failed: it did not end within 4000 ms$/u,
    },
  ])("is not opened when $name, and nothing is left", async ({ source, className = "my_pkg.filters.Guard", says }) => {
    const environment = makeEnvironment();
    // Only what does not end is to be late: a busy machine takes its time for the others.
    const limits = says.source.includes("did not end") ? { startTimeoutMs: 3_000, callTimeoutMs: 1_000 } : {};
    const options = { environment, cwd: cwdWith(source), importsFirst: true, limits };
    const one = { ...entry, config: { class_name: className } };
    await expect(openPlugin(one, options)).rejects.toMatchObject({
      name: "VenvHostError",
      message: expect.stringMatching(says),
    });
    expect([environment.closed(), processesOf(environment.path)]).toEqual([1, 0]);
  });

  it("is no longer waited for when that is not wanted", async () => {
    const environment = makeEnvironment();
    const ending = new AbortController();
    const cwd = cwdWith("import sys, time\nprint('here', file=sys.stderr, flush=True)\ntime.sleep(3600)\n");
    const onLog = (line: string): void => {
      if (line === "here") ending.abort(new Error("enough"));
    };
    const opening = openPlugin(entry, { environment, cwd, importsFirst: true, onLog, signal: ending.signal });
    await expect(opening).rejects.toThrow("enough");
    expect([environment.closed(), processesOf(environment.path)]).toEqual([1, 0]);
  });

  it("is imported in the confinement of its worker", async () => {
    const asked: (readonly string[])[] = [];
    const confine = async (argv: readonly string[]) => {
      asked.push(argv);
      return { argv, confinement: "a test's", release: async () => undefined };
    };
    const confined = { ...entry, config: { class_name: "my_pkg.filters.Guard", confine: true } };
    await openPlugin(confined, { cwd: cwdWith(guard), importsFirst: true, confine });
    expect(asked.map((argv) => argv.at(-1))).toEqual([expect.stringMatching(/worker\.py$/u), "my_pkg.filters.Guard"]);
  });
});
