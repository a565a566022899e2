import { spawnSync } from "node:child_process";
import { chownSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import { environment, sourceThat } from "./acting-source.js";
import { expectNothingLeft, failure, makeWheel, makeWorld, preferUv, python, says } from "./world.js";

const installer = preferUv();
const venvTest = partTest("python3", "python3-venv");

// A wheel is installed by programs that may themselves refuse one of these; the build then fails with their words.
const files: readonly { name: string; files: Record<string, string> }[] = [
  { name: "a mark of its own", files: { "evil-1.0.data/data/ready.json": "{}" } },
  {
    name: "a file that a moved script would be written to",
    files: {
      "evil-1.0.data/scripts/evil-says.moved": "#!python\n",
      "evil-1.0.data/scripts/said": "#!python\n",
      "evil-1.0.data/scripts/said.moved": "#!python\n",
    },
  },
  { name: "files above its environment", files: { "../../../../../../outside.txt": "out" } },
];

describe("a wheel", () => {
  for (const { name, files: inside } of files) {
    venvTest(`with ${name} gives a whole environment or VENV_BUILD_FAILED`, async () => {
      const world = makeWorld(installer);
      makeWheel(world.wheels, "evil", "1.0", inside);
      const store = await world.open();
      const asked = { interpreter: python, requirements: world.write("evil.txt", "evil\n") };
      const outcome = await store.acquire(asked).then(
        (held) => says(held.python, ["-c", "import evil; print(evil.told)"]),
        (error: unknown) => failure(Promise.reject(error)).then(({ code }) => code),
      );
      expect(["evil 1.0", "VENV_BUILD_FAILED"]).toContain(outcome);
      expect(readdirSync(join(world.storePath, "tmp"))).toEqual([]);
      expect(readdirSync(world.folder), "nothing beside the store").not.toContain("outside.txt");
    });
  }
});

describe("the code of a source distribution", () => {
  const acts: readonly { name: string; program: string }[] = [
    {
      name: "puts a link in the place of the environment's programs",
      program: 'os.rename(there + "/bin", there + "/bin2")\nos.symlink(there + "/bin2", there + "/bin")',
    },
    { name: "puts a pipe among the scripts", program: 'os.mkfifo(there + "/bin/pipe")' },
    {
      name: "puts a record of a pipe beside its own",
      program:
        'import glob\nsite = glob.glob(there + "/lib/*/site-packages")[0]\nos.mkdir(site + "/x-1.dist-info")\nos.mkfifo(site + "/x-1.dist-info/RECORD")',
    },
    {
      name: "writes a record of names that no file can have",
      program:
        'import glob\nsite = glob.glob(there + "/lib/*/site-packages")[0]\nos.mkdir(site + "/x-1.dist-info")\nopen(site + "/x-1.dist-info/RECORD", "w").write("a\\0b,,\\n" + "c" * 5000 + ",,\\n")',
    },
    { name: "writes the mark itself", program: 'open(there + "/ready.json", "w").write("{}")' },
    {
      name: "puts a link in the place of the environment",
      program: 'os.rename(there, there + "2")\nos.symlink(there + "2", there)',
    },
  ];
  for (const { name, program } of acts) {
    venvTest(`that ${name} gets a whole environment or VENV_BUILD_FAILED`, async () => {
      const world = makeWorld(installer);
      const store = await world.open();
      const asked = { interpreter: python, requirements: sourceThat(world, environment + program) };
      const outcome = await store.acquire(asked, { signal: AbortSignal.timeout(30_000) }).then(
        (held) => says(held.python, ["-c", "import acts_it; print('whole')"]),
        (error: unknown) => failure(Promise.reject(error)).then(({ code }) => code),
      );
      expect(["whole", "VENV_BUILD_FAILED"]).toContain(outcome);
      expect(readdirSync(join(world.storePath, "tmp"))).toEqual([]);
      if (outcome === "VENV_BUILD_FAILED") await expectNothingLeft(world);
    });
  }

  partTest(
    "python3",
    "python3-venv",
    "ordinary-user",
  )("may close folders to their owner: none is left behind", () => {
    const world = makeWorld(installer);
    const closed = 'os.makedirs(there + "/closed/inner")\nos.chmod(there + "/closed", 0)\n';
    const requirements = sourceThat(world, environment + closed);
    for (const path of [world.folder, world.wheels]) chownSync(path, 65534, 65534);
    const program = new URL("./programs/acquire.mjs", import.meta.url).pathname;
    const job = JSON.stringify({ options: world.options, requests: [{ interpreter: python, requirements }] });
    const args = ["--reuid", "65534", "--clear-groups", process.execPath, program, job];
    const run = spawnSync("setpriv", args, { encoding: "utf8", timeout: 60_000 });
    expect(JSON.parse(run.stdout)).toMatchObject({
      code: "VENV_BUILD_FAILED",
      message: expect.stringContaining("cannot be measured"),
    });
    expect(readdirSync(join(world.storePath, "tmp"))).toEqual([]);
  });

  partTest(
    "python3",
    "python3-venv",
    "ordinary-user",
  )("may close its environment later: it is listed, built anew and collected", () => {
    const world = makeWorld(installer);
    for (const path of [world.folder, world.wheels]) chownSync(path, 65534, 65534);
    const program = `
import { chmodSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openEnvironmentStore } from "@berth/venv-host";
const [options, request] = JSON.parse(process.argv[1]);
const store = await openEnvironmentStore(options);
const told = [];
for (const closed of [".", "lib"]) {
  const held = await store.acquire(request);
  await held.close();
  chmodSync(join(held.path, closed), 0);
  told.push((await store.list()).map(({ state }) => state).join());
  const again = await store.acquire(request);
  told.push(again.origin, again.reason);
  await again.close();
  chmodSync(join(again.path, closed), 0);
  told.push((await store.collect({})).removed.length, readdirSync(join(options.path, "tmp")).length);
}
await store.close();
console.log(JSON.stringify(told));
`;
    const job = JSON.stringify([world.options, { interpreter: python, requirements: world.requirements }]);
    const cwd = new URL("../..", import.meta.url).pathname;
    const node = [process.execPath, "--input-type=module", "-e", program, job];
    const run = spawnSync("setpriv", ["--reuid", "65534", "--clear-groups", ...node], {
      encoding: "utf8",
      timeout: 60_000,
      cwd,
    });
    const turn = ["broken", "rebuilt", expect.stringMatching(/cannot be looked into|missing/), 1, 0];
    expect(JSON.parse(run.stdout || "null"), run.stderr).toEqual([...turn, ...turn]);
  });
});
