import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
// Inner files: a question to a program, and locks by numbers that no store would give.
import { askProgram } from "../../src/environments/ask-program.js";
import { isHeld, tryLock } from "../../src/environments/locks/build-lock.js";
import { thisProcess } from "../../src/environments/locks/process-name.js";
import { openEnvironmentStore } from "../../src/index.js";
import { failure, makeWorld, preferUv, python, says, scratch, type World } from "./world.js";

const installer = preferUv();
const venvTest = partTest("python3", "python3-venv");
const request = (world: World): { interpreter: string; requirements: string } => ({
  interpreter: python,
  requirements: world.requirements,
});
const pipe = (path: string): void => void execFileSync("mkfifo", [path]);
const endless = (path: string): void => {
  writeFileSync(path, "");
  truncateSync(path, 2 ** 40);
};
const soon = (): { readonly signal: AbortSignal } => ({ signal: AbortSignal.timeout(30_000) });

/** A marker whose digest would take a stack of a million levels. */
const deepMarker = `{"digest":"x","marker":{"a":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}}`;

const places: readonly { name: string; reason: RegExp; act: (path: string) => void | Promise<void> }[] = [
  {
    name: "its mark is a pipe",
    reason: /no mark/,
    act: (path) => {
      unlinkSync(join(path, "ready.json"));
      pipe(join(path, "ready.json"));
    },
  },
  {
    name: "its mark is a link to itself",
    reason: /no mark/,
    act: (path) => {
      unlinkSync(join(path, "ready.json"));
      symlinkSync("ready.json", join(path, "ready.json"));
    },
  },
  {
    name: "its mark is a socket",
    reason: /no mark/,
    act: async (path) => {
      unlinkSync(join(path, "ready.json"));
      // The names of sockets are short where they are made, and move as others do.
      const made = join(scratch(), "socket");
      const server = createServer().listen(made);
      await new Promise((resolve) => server.once("listening", resolve));
      renameSync(made, join(path, "ready.json"));
      onTestFinished(() => void server.close());
    },
  },
  {
    name: "its mark has no end",
    reason: /no mark/,
    act: (path) => truncateSync(join(path, "ready.json"), 2 ** 40),
  },
  {
    name: "its mark is nested without end",
    reason: /no mark/,
    act: (path) => writeFileSync(join(path, "ready.json"), deepMarker),
  },
  {
    name: "it is a link to another place",
    reason: /it is no folder/,
    act: (path) => {
      renameSync(path, `${path}-moved`);
      symlinkSync(`${path}-moved`, path);
    },
  },
  {
    name: "it is a file",
    reason: /it is no folder/,
    act: (path) => {
      rmSync(path, { recursive: true });
      writeFileSync(path, "");
    },
  },
  {
    name: "its pyvenv.cfg is a pipe",
    reason: /pyvenv\.cfg is missing/,
    act: (path) => {
      unlinkSync(join(path, "pyvenv.cfg"));
      pipe(join(path, "pyvenv.cfg"));
    },
  },
  {
    name: "it has distributions without end",
    reason: /more than 5000 distributions/,
    act: (path) => {
      const [version = ""] = readdirSync(join(path, "lib"));
      const packages = join(path, "lib", version, "site-packages");
      for (let at = 0; at <= 5_000; at += 1) mkdirSync(join(packages, `x${at}-1.dist-info`));
    },
  },
  {
    name: "its interpreter is a link to itself",
    reason: /its interpreter/,
    act: (path) => {
      unlinkSync(join(path, "bin", "python"));
      symlinkSync("python", join(path, "bin", "python"));
    },
  },
];

describe("an environment that somebody wrote into", () => {
  for (const { name, reason, act } of places) {
    venvTest(`is listed, and built anew: ${name}`, async () => {
      const world = makeWorld(installer);
      const store = await world.open();
      const held = await store.acquire(request(world));
      await held.close();
      await act(held.path);
      expect((await store.list(soon())).map(({ key }) => key)).toEqual([held.key]);
      const again = await store.acquire(request(world), soon());
      expect(again).toMatchObject({ origin: "rebuilt", key: held.key });
      expect(again.reason).toMatch(reason);
      expect(says(again.python, ["-c", "import apple; print(apple.told)"])).toBe("apple 1.0");
    });
  }

  venvTest(
    "and whose interpreter leaves a process with its pipes is built anew in the time for a question",
    async () => {
      const folder = scratch();
      const program = join(folder, "python");
      const pidFile = join(folder, "pid");
      // It leaves the group, and holds both pipes for long.
      writeFileSync(program, `#!/bin/sh\nsetsid sh -c 'echo $$ >> ${pidFile}; exec sleep 600' &\nsleep 600\n`, {
        mode: 0o755,
      });
      // Each question starts one, and one that was ended early may have left none; what is no number would be our own group.
      onTestFinished(() => {
        const left = existsSync(pidFile) ? readFileSync(pidFile, "utf8").match(/^[1-9]\d*$/gmu) : undefined;
        for (const pid of left ?? []) {
          try {
            process.kill(Number(pid), "SIGKILL");
          } catch {
            // it was ended with its question
          }
        }
      });
      const options = { timeoutMs: 1_000, maxBytes: 10, env: { PATH: "/usr/bin:/bin" } };
      await expect(askProgram([program], options)).resolves.toMatchObject({ stopped: "it did not end within 1000 ms" });
      const reason = new Error("no longer wanted");
      const ending = new AbortController();
      const asked = askProgram([program], { ...options, timeoutMs: 60_000, signal: ending.signal });
      ending.abort(reason);
      await expect(asked).rejects.toBe(reason);
    },
  );
});

describe("a store that somebody wrote into", () => {
  it.each<{ name: string; act: (path: string) => void }>([
    { name: "a pipe", act: pipe },
    { name: "a folder", act: (path) => mkdirSync(path) },
    { name: "a file without end", act: (path) => endless(path) },
    { name: "a link to itself", act: (path) => symlinkSync("format", path) },
  ])("is refused, and not waited for, when its version is $name", async ({ act }) => {
    const world = makeWorld();
    mkdirSync(world.storePath);
    act(join(world.storePath, "format"));
    expect((await failure(openEnvironmentStore(world.options))).code).toBe("STORE_UNUSABLE");
  });

  venvTest("with pipes, links and folders among its notes works on", async () => {
    const world = makeWorld(installer);
    const store = await world.open();
    const held = await store.acquire(request(world));
    const note = join(world.storePath, "used", held.key);
    pipe(note);
    await held.close();
    expect(await store.list(soon())).toMatchObject([{ lastUsedAt: undefined, heldBy: [] }]);
    unlinkSync(note);
    const victim = join(world.folder, "victim");
    writeFileSync(victim, "mine");
    symlinkSync(victim, note);
    await (await store.acquire(request(world))).close();
    expect(readFileSync(victim, "utf8"), "no link is followed").toBe("mine");
    pipe(join(world.storePath, "uses", `${held.key}.pipe`));
    mkdirSync(join(world.storePath, "uses", `${held.key}.folder`));
    pipe(join(world.storePath, "locks", held.key, "lock-99"));
    mkdirSync(join(world.storePath, "tmp", "not-a-key"));
    expect(await store.collect({ ...soon() })).toMatchObject({ removed: [{ key: held.key }], failed: [] });
    expect(readdirSync(join(world.storePath, "tmp")), "what is not ours stays").toEqual(["not-a-key"]);
    expect(await store.acquire(request(world), soon())).toMatchObject({ origin: "built" });
  });

  venvTest("is rid of what a killed build of the same environment left, and of nothing else", async () => {
    const world = makeWorld(installer);
    const store = await world.open();
    const { digest } = await store.keyOf(request(world));
    const other = `${"0".repeat(64)}.left`;
    for (const name of [`${digest}.left`, other])
      mkdirSync(join(world.storePath, "tmp", name, "venv", "bin"), { recursive: true });
    expect(await store.list(), "it is no environment").toEqual([]);
    expect(await store.acquire(request(world))).toMatchObject({ origin: "built" });
    expect(readdirSync(join(world.storePath, "tmp"))).toEqual([other]);
    await store.collect({ unusedMs: 1_000_000 });
    expect(readdirSync(join(world.storePath, "tmp"))).toEqual([]);
  });

  it("ends a search for a lock's number where none is left, and says what to remove", async () => {
    const folder = scratch();
    const last = join(folder, "lock-999999999999999");
    writeFileSync(last, `${JSON.stringify({ released: 1, ...thisProcess() })}\n`);
    const taken = tryLock(folder, { self: thisProcess(), isLocal: true }, () => "r");
    await expect(taken).rejects.toMatchObject({ code: "STORE_UNUSABLE", details: { cure: `remove ${last}` } });
  });

  it("gives locks again when somebody removed their folder at any moment", async () => {
    const folder = join(scratch(), "lock");
    let count = 0;
    const random = (): string => {
      count += 1;
      // Between the look for the highest number and the making of the next.
      if (count < 4) rmSync(folder, { recursive: true });
      return `r${count}`;
    };
    expect(isHeld(await tryLock(folder, { self: thisProcess(), isLocal: true }, random))).toBe(true);
    expect(count).toBe(4);
  });

  venvTest("also by a wheel of its own environment's programs: what they append is seen", async () => {
    const world = makeWorld(installer);
    const store = await world.open();
    const held = await store.acquire(request(world));
    appendFileSync(join(held.sitePackages, "apple", "__init__.py"), "\n# more\n");
    expect((await store.acquire(request(world))).reason).toMatch(/apple\/__init__\.py of apple has \d+ bytes/);
  });
});
