import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import type { HeldEnvironment } from "../../src/index.js";
import { isVenvHostError } from "../../src/index.js";
import { makeWorld, preferUv, python, says, type World } from "./world.js";

const installer = preferUv();
const damage: readonly { name: string; reason: RegExp; act: (held: HeldEnvironment) => void }[] = [
  {
    name: "its mark is missing",
    reason: /no mark that it was finished/,
    act: ({ path }) => unlinkSync(join(path, "ready.json")),
  },
  {
    name: "its mark was changed",
    reason: /no mark that it was finished/,
    act: ({ path }) => appendFileSync(join(path, "ready.json"), " x"),
  },
  {
    name: "a module is missing",
    reason: /apple\/__init__\.py of apple is missing/,
    act: ({ sitePackages }) => unlinkSync(join(sitePackages, "apple", "__init__.py")),
  },
  {
    name: "a module is empty, as after a power loss",
    reason: /apple\/__init__\.py of apple has 0 bytes in place of \d+/,
    act: ({ sitePackages }) => truncateSync(join(sitePackages, "apple", "__init__.py")),
  },
  {
    name: "a record was changed",
    reason: /the record of apple 1\.0 is not the one of the build/,
    act: ({ sitePackages }) => appendFileSync(join(sitePackages, "apple-1.0.dist-info", "RECORD"), "more.py,,\n"),
  },
  {
    name: "a distribution is gone",
    reason: /apple 1\.0 is no longer in it/,
    act: ({ sitePackages }) => rmSync(join(sitePackages, "apple-1.0.dist-info"), { recursive: true }),
  },
  {
    name: "something was installed into it",
    reason: /banana 3 was installed into it afterwards/,
    act: ({ sitePackages }) => mkdirSync(join(sitePackages, "banana-3.dist-info")),
  },
  {
    name: "its packages are gone",
    reason: /site-packages folder is missing/,
    act: ({ sitePackages }) => rmSync(sitePackages, { recursive: true }),
  },
  {
    name: "its interpreter is gone",
    reason: /its interpreter is gone/,
    act: ({ python: link }) => unlinkSync(link),
  },
  {
    name: "its interpreter leads nowhere",
    reason: /its interpreter is gone/,
    act: ({ python: link }) => {
      unlinkSync(link);
      symlinkSync("/nowhere/python3", link);
    },
  },
  {
    name: "its interpreter fails",
    reason: /its interpreter does not run: exit code 1/,
    act: ({ python: link }) => {
      unlinkSync(link);
      symlinkSync("/bin/false", link);
    },
  },
  {
    name: "its pyvenv.cfg says another version",
    reason: /its pyvenv\.cfg says Python 3\.9\.1 and it was made with 3\.\d+\.\d+/,
    act: ({ path }) => writeFileSync(join(path, "pyvenv.cfg"), "home = /usr/bin\nversion = 3.9.1\n"),
  },
  {
    name: "half of it was deleted",
    reason: /pyvenv\.cfg is missing/,
    act: ({ path }) => {
      rmSync(join(path, "bin"), { recursive: true });
      unlinkSync(join(path, "pyvenv.cfg"));
    },
  },
];

/** Where a name on this process's PATH, which may be a launcher, leads. */
function interpreterOnPath(name: string): string {
  return execFileSync(name, ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
}

const request = (world: World): { interpreter: string; requirements: string } => ({
  interpreter: python,
  requirements: world.requirements,
});

describe("an environment that is no longer whole", () => {
  for (const { name, reason, act } of damage) {
    partTest("python3", "python3-venv")(`is built anew once, with the reason: ${name}`, async () => {
      const world = makeWorld(installer);
      const store = await world.open();
      const first = await store.acquire(request(world));
      await first.close();
      act(first);
      expect(await store.list()).toMatchObject([{ key: first.key, state: expect.stringMatching(/^(ready|broken)$/) }]);
      const steps: string[] = [];
      const again = await store.acquire(request(world), { onProgress: (step) => steps.push(step) });
      expect(again).toMatchObject({ origin: "rebuilt", key: first.key, path: first.path });
      expect(again.reason).toMatch(reason);
      expect(steps[0]).toBe(`building anew: ${again.reason}`);
      expect(says(join(again.path, "bin", "apple-says"))).toBe("apple 1.0");
      expect(await store.acquire(request(world))).toMatchObject({ origin: "cached" });
    });
  }

  partTest("python3", "python3-venv")("may have what its programs wrote beside their modules", async () => {
    const world = makeWorld(installer);
    const store = await world.open();
    const first = await store.acquire(request(world));
    writeFileSync(join(first.sitePackages, "apple", "cache.bin"), "written at run time");
    rmSync(join(first.sitePackages, "apple", "__pycache__"), { recursive: true, force: true });
    expect(await store.acquire(request(world))).toMatchObject({ origin: "cached" });
  });
});

describe("a store that moved", () => {
  partTest("python3", "python3-venv")(
    "builds its environments anew, since their scripts hold the old path",
    async () => {
      const world = makeWorld(installer);
      const store = await world.open();
      const first = await store.acquire(request(world));
      await store.close();
      const path = join(world.folder, "elsewhere");
      renameSync(world.storePath, path);
      const moved = await world.open({ path });
      const again = await moved.acquire(request(world));
      expect(again).toMatchObject({ origin: "rebuilt", key: first.key });
      expect(again.reason).toBe(`the store moved from where it made it, ${first.path}`);
      expect(says(join(again.path, "bin", "apple-says"))).toBe("apple 1.0");
    },
  );
});

describe("an interpreter that changed", () => {
  partTest("python3", "python3-venv")("in place gets an environment of its own, and the reason names it", async () => {
    const world = makeWorld(installer);
    const store = await world.open();
    const interpreter = join(world.folder, "python3");
    copyFileSync("/usr/bin/python3", interpreter);
    const asked = { interpreter, requirements: world.requirements };
    const first = await store.acquire(asked);
    const grown = join(world.folder, "grown");
    cpSync(interpreter, grown);
    appendFileSync(grown, "\0");
    renameSync(grown, interpreter);
    const again = await store.acquire(asked);
    expect(again.key).not.toBe(first.key);
    expect(again.origin).toBe("rebuilt");
    expect(again.reason).toMatch(/^the interpreter .* is another build of 3\.\d+\.\d+$/);
  });

  partTest(
    "python3",
    "python3-venv",
    "python3.12",
  )("by a link that leads elsewhere is noticed, with both versions", async () => {
    const world = makeWorld(installer);
    const store = await world.open();
    const interpreter = join(world.folder, "python-link");
    symlinkSync("/usr/bin/python3", interpreter);
    const asked = { interpreter, requirements: world.requirements };
    const first = await store.acquire(asked);
    unlinkSync(interpreter);
    symlinkSync(interpreterOnPath("python3.12"), interpreter);
    const again = await store.acquire(asked);
    expect(again.reason).toMatch(/^the interpreter went from 3\.\d+\.\d+ to 3\.12\.\d+$/);
    expect(again.evidence.interpreter.version).toMatch(/^3\.12\./);
    expect(again.key).not.toBe(first.key);
  });

  it.each([
    { name: "is not there", interpreter: "/nowhere/python3", message: /there is no program/ },
    { name: "is not on PATH", interpreter: "python3.999", message: /there is no python3\.999 on PATH/ },
    { name: "is no interpreter", interpreter: "/bin/false", message: /did not say what it is: exit code 1/ },
    { name: "is a relative path", interpreter: "../bin/python3", message: /absolute path or a name on PATH/ },
  ])("or $name is a clear error", async ({ interpreter, message }) => {
    const store = await makeWorld().open();
    const error: unknown = await store.acquire({ interpreter }).catch((caught: unknown) => caught);
    expect(isVenvHostError(error) && error.code).toBe("INTERPRETER_NOT_FOUND");
    expect(String(error)).toMatch(message);
  });
});

describe("requirements that changed", () => {
  partTest("python3", "python3-venv")("are named in the reason", async () => {
    const world = makeWorld(installer);
    const store = await world.open();
    await store.acquire(request(world));
    world.write("requirements.txt", "apple==1.0\npear\n");
    const again = await store.acquire(request(world));
    expect(again).toMatchObject({ origin: "rebuilt", reason: "the requirements changed: + pear" });
  });
});
