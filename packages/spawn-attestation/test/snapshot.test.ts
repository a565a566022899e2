import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, describe as suite } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { attestedSpawn, describeLaunch, type Launch, type SpawnDescription } from "../src/index.js";
import { fill, testFolder } from "./support/folder.js";
import { describe, env, pythonPath, refusal, runLaunch } from "./support/launch.js";
import { sourceMeasurer } from "./support/source-measurer.js";

const measurer = sourceMeasurer();
afterAll(() => measurer.close());

/** Pins, launches, and runs the copy to its end. */
async function runCopy(plain: SpawnDescription, snapshots: string): Promise<{ launch: Launch; output: string }> {
  const description: SpawnDescription = { ...plain, guard: "snapshot" };
  const scratch = join(snapshots, "../scratch");
  const { pin } = await describeLaunch(description, { measurer, scratch });
  const attested = await attestedSpawn({
    description: { ...description, digest: pin.digest, interpreter: pin.interpreter },
    policy: { allowUnmeasuredSpawn: false },
    record: () => Promise.resolve(),
    spawn: (launch) => Promise.resolve({ launch, output: runLaunch(launch) }),
    end: () => Promise.resolve(),
    snapshots,
    scratch,
    measurer,
  });
  await attested.recheck();
  return attested.child;
}

const only = (folder: string): string => {
  const [name = "", ...more] = readdirSync(folder);
  expect(more).toEqual([]);
  return join(folder, name);
};

const app = {
  "app/package.json": '{"name":"app","type":"module"}',
  "app/main.js":
    'import { text } from "./lib/text.js"; console.log(text, process.argv.slice(2).join(), process.argv0);',
  "app/lib/text.js": 'export const text = "measured";',
  "app/tool": { program: "#!/bin/sh\n" },
  "app/link.js": { link: "main.js" },
};

suite("a snapshot", () => {
  it("is a read-only copy with the exec bits and links of the original", async () => {
    const folder = testFolder(app);
    const snapshots = join(folder, "snapshots");
    const { launch, output } = await runCopy(describe("node", ["app/main.js", "x"], { cwd: folder, env }), snapshots);
    expect(output).toBe("measured x node\n");
    expect(launch).toMatchObject({ argv0: "node", cwd: folder });
    const copy = join(only(snapshots), "root");
    expect(launch.args).toEqual([join(copy, "main.js"), "x"]);
    const listing = execFileSync("find", [".", "-printf", "%P %y %m %l\n"], { cwd: copy, encoding: "utf8" });
    const entries = listing.split("\n").map((line) => line.trim());
    expect(new Set(entries)).toEqual(
      new Set([
        "",
        "d 555",
        "lib d 555",
        "lib/text.js f 444",
        "link.js l 777 main.js",
        "main.js f 444",
        "package.json f 444",
        "tool f 555",
      ]),
    );
    expect(statSync(snapshots).mode & 0o777).toBe(0o700);
  });

  it("is made once for the same bytes, and verified each time it is used again", async () => {
    const folder = testFolder(app);
    const snapshots = join(folder, "snapshots");
    const description = describe("node", ["app/main.js"], { cwd: folder, env });
    await runCopy(description, snapshots);
    const { ino } = statSync(only(snapshots));
    const elsewhere = testFolder(app);
    await runCopy({ ...description, cwd: elsewhere }, snapshots);
    expect(statSync(only(snapshots)).ino).toBe(ino);
    fill(folder, { "app/lib/text.js": 'export const text = "newer";' });
    expect((await runCopy(description, snapshots)).output).toBe("newer  node\n");
    expect(readdirSync(snapshots)).toHaveLength(2);
  });

  const damages: readonly { readonly name: string; readonly act: (copy: string) => void }[] = [
    { name: "other bytes", act: (copy) => writeFileSync(join(copy, "root/lib/text.js"), 'export const text = "evil"') },
    { name: "a file more", act: (copy) => writeFileSync(join(copy, "root/lib/new.js"), "") },
    { name: "a file less", act: (copy) => execFileSync("rm", [join(copy, "root/tool")]) },
    { name: "a file beside it", act: (copy) => writeFileSync(join(copy, "package.json"), '{"type":"commonjs"}') },
    { name: "an exec bit more", act: (copy) => chmodSync(join(copy, "root/main.js"), 0o755) },
    { name: "nothing left in it", act: (copy) => execFileSync("rm", ["-rf", join(copy, "root")]) },
    { name: "what measureIgnore would leave out", act: (copy) => mkdirSync(join(copy, "root/data")) },
  ];
  it.each(damages)("that was found with $name is thrown away and made anew", async ({ act }) => {
    const folder = testFolder({ ...app, "app/data/x": "1" });
    const snapshots = join(folder, "snapshots");
    const description = describe("node", ["app/main.js"], { cwd: folder, env, measureIgnore: ["data"] });
    await runCopy(description, snapshots);
    const copy = only(snapshots);
    expect(existsSync(join(copy, "root/data"))).toBe(false);
    const { ino } = statSync(copy);
    execFileSync("chmod", ["-R", "u+w", copy]);
    act(copy);
    expect((await runCopy(description, snapshots)).output).toBe("measured  node\n");
    expect(only(snapshots)).toBe(copy);
    expect(statSync(copy).ino).not.toBe(ino);
  });

  it("that several launches need at once is made whole, and one of it stays", async () => {
    const folder = testFolder(app);
    const snapshots = join(folder, "snapshots");
    const many = sourceMeasurer({ maxThreads: 4 });
    const description: SpawnDescription = {
      ...describe("node", ["app/main.js"], { cwd: folder, env }),
      guard: "snapshot",
    };
    const { pin } = await describeLaunch(description, { measurer: many });
    const launches = Array.from({ length: 8 }, () =>
      attestedSpawn({
        description: { ...description, digest: pin.digest },
        policy: { allowUnmeasuredSpawn: false },
        record: () => Promise.resolve(),
        spawn: (launch) => Promise.resolve(runLaunch(launch)),
        end: () => Promise.resolve(),
        snapshots,
        measurer: many,
      }),
    );
    const outputs = (await Promise.all(launches)).map(({ child }) => child);
    await many.close();
    expect(outputs).toEqual(Array.from({ length: 8 }, () => "measured  node\n"));
    expect(readdirSync(snapshots)).toHaveLength(1);
  });

  it("is not followed through what a killed process left unfinished: that is swept once it is old", async () => {
    const folder = testFolder(app);
    const snapshots = join(folder, "snapshots");
    const dead = ".build-999999999-0123456789abcdef";
    const young = ".build-999999999-fedcba9876543210";
    const living = `.build-${process.pid}-0123456789abcdef`;
    const givenUp = `.build-${process.pid}-fedcba9876543210`;
    fill(snapshots, {
      [`${dead}/root/x`]: "",
      [`${young}/root/x`]: "",
      [`${living}/root/x`]: "",
      [`${givenUp}/root/x`]: "",
    });
    execFileSync("chmod", ["700", snapshots]);
    chmodSync(join(snapshots, dead, "root"), 0o555);
    const age = (name: string, minutes: number): void => {
      const then = Date.now() / 1000 - minutes * 60;
      utimesSync(join(snapshots, name), then, then);
    };
    age(dead, 11);
    age(living, 50);
    age(givenUp, 61);
    await runCopy(describe("node", ["app/main.js"], { cwd: folder, env }), snapshots);
    const names = readdirSync(snapshots);
    expect(names).not.toContain(dead);
    expect(names).not.toContain(givenUp);
    expect(names).toEqual(expect.arrayContaining([young, living]));
  });

  it.each([
    { name: "is open to others", mode: "755" },
    { name: "is a link", mode: "link" },
    { name: "is a file", mode: "file" },
  ])("is not put into a folder that $name", async ({ mode }) => {
    const folder = testFolder(app);
    const snapshots = join(folder, "snapshots");
    if (mode === "file") fill(folder, { snapshots: "" });
    else if (mode === "link") fill(folder, { real: "folder/", snapshots: { link: "real" } });
    else execFileSync("mkdir", ["-m", mode, snapshots]);
    expect(await refusal(runCopy(describe("node", ["app/main.js"], { cwd: folder, env }), snapshots))).toBe(
      "SCRATCH_NOT_PRIVATE",
    );
  });
});

suite("what a snapshot holds", () => {
  const modules = {
    "app/package.json": '{"name":"app"}',
    "app/node_modules/srv/package.json": '{"name":"srv"}',
    "app/node_modules/srv/node_modules/inner/package.json": '{"name":"inner"}',
    "app/node_modules/srv/node_modules/inner/main.js": "console.log(require('dep'))",
    "app/node_modules/dep/index.js": 'module.exports = "hoisted"',
    "app/.git/HEAD": "x",
  };

  it("is the folder that holds the outermost node_modules on the target's path", async () => {
    const folder = testFolder(modules);
    const args = ["app/node_modules/srv/node_modules/inner/main.js"];
    const { output, launch } = await runCopy(describe("node", args, { cwd: folder, env }), join(folder, "snapshots"));
    expect(output).toBe("hoisted\n");
    const copy = join(only(join(folder, "snapshots")), "root");
    expect(launch.args[0]).toBe(join(copy, "node_modules/srv/node_modules/inner/main.js"));
    expect(readdirSync(copy).sort()).toEqual(["node_modules", "package.json"]);
  });

  it("is that node_modules itself where the folder is no project, such as a global prefix", async () => {
    const { "app/package.json": _, ...rest } = modules;
    const folder = testFolder({ ...rest, "app/unrelated": { link: "/etc" } });
    const args = ["app/node_modules/srv/node_modules/inner/main.js"];
    const { output } = await runCopy(describe("node", args, { cwd: folder, env }), join(folder, "snapshots"));
    expect(output).toBe("hoisted\n");
    expect(readdirSync(only(join(folder, "snapshots")))).toEqual(["node_modules"]);
  });

  it("is the package where there is no node_modules, and the file where there is no package", async () => {
    const folder = testFolder({ ...app, "alone/one.mjs": 'console.log("alone")' });
    const snapshots = join(folder, "snapshots");
    const { launch, output } = await runCopy(describe("node", ["alone/one.mjs"], { cwd: folder, env }), snapshots);
    expect(output).toBe("alone\n");
    expect(launch.args[0]).toMatch(/\/sha256-[0-9a-f]{64}-[0-9a-f]{8}\/one\.mjs$/);
  });

  it("may be the program itself: then the copy is executed, under the name as written", async () => {
    const folder = testFolder({ tool: { program: '#!/bin/sh\necho "$0"\n' } });
    const snapshots = join(folder, "snapshots");
    const script = await runCopy(describe("./tool", [], { cwd: folder, env }), snapshots);
    expect(script.launch).toMatchObject({ argv0: "./tool", file: join(only(snapshots), "tool") });
    expect(script.output).toBe(`${join(only(snapshots), "tool")}\n`);
  });

  it("is a native program as it is", async () => {
    const folder = testFolder();
    execFileSync("cp", ["/bin/echo", join(folder, "native")]);
    const snapshots = join(folder, "snapshots");
    const { launch, output } = await runCopy(describe("./native", ["hello"], { cwd: folder, env }), snapshots);
    expect(launch).toMatchObject({ argv0: "./native", file: join(only(snapshots), "native") });
    expect(output).toBe("hello\n");
  });

  it("may be reached through env: then its word among the arguments is replaced", async () => {
    const folder = testFolder({ tool: { program: '#!/bin/sh\necho "$0 $X"\n' } });
    execFileSync("cp", ["/bin/echo", join(folder, "native")]);
    for (const name of ["tool", "native"]) {
      const snapshots = join(folder, `${name}-snapshots`);
      const { launch, output } = await runCopy(
        describe("env", ["X=7", `./${name}`, "x"], { cwd: folder, env }),
        snapshots,
      );
      expect(launch.args).toEqual(["X=7", join(only(snapshots), name), "x"]);
      expect(output).toBe(name === "tool" ? `${join(only(snapshots), name)} 7\n` : "x\n");
    }
  });

  const it_ = partTest("python3");
  it_("is a Python project outside a virtual environment", async () => {
    const folder = testFolder({
      "p/pyproject.toml": "",
      "p/s.py": "import lib",
      "p/lib.py": 'print("ran")',
      "p/__pycache__/x.pyc": "x",
    });
    const { output, launch } = await runCopy(
      describe(pythonPath(), ["p/s.py"], { cwd: folder, env }),
      join(folder, "snapshots"),
    );
    expect(output).toBe("ran\n");
    expect(readFileSync(launch.args[0] ?? "", "utf8")).toBe("import lib");
    expect(readdirSync(join(only(join(folder, "snapshots")), "root")).sort()).toEqual([
      "lib.py",
      "pyproject.toml",
      "s.py",
    ]);
  });
});

suite("no snapshot can be made", () => {
  const contents = {
    "app/package.json": '{"name":"app"}',
    "app/main.js": "",
    "pre.js": "",
    tool: { program: "#!/usr/bin/env -S node app/main.js\n" },
  };

  it.each([
    {
      name: "of modules above the package",
      command: "node",
      args: ["app/main.js"],
      extra: { "node_modules/x/index.js": "" },
      why: /hoisted-modules/,
    },
    {
      name: "with an option that loads other code",
      command: "node",
      args: ["--require", "./pre.js", "one.js"],
      why: /preload/,
    },
    {
      name: "with a variable that loads other code",
      command: "node",
      args: ["one.js"],
      more: { NODE_OPTIONS: "-r ./pre.js" },
      why: /NODE_OPTIONS/,
    },
    {
      name: "with a variable that holds compiled code",
      command: "node",
      args: ["one.js"],
      more: { NODE_COMPILE_CACHE: "/tmp" },
      why: /NODE_COMPILE_CACHE/,
    },
    { name: "of a script that a #! line names", command: "./tool", args: [], why: /#! line/ },
  ])("$name", async ({ command, args, more, extra, why }) => {
    const folder = testFolder({ ...contents, "one.js": "", ...extra });
    const promise = describeLaunch(
      { ...describe(command, args, { cwd: folder, env: { ...env, ...more } }), guard: "snapshot" },
      { measurer },
    );
    await expect(promise).rejects.toMatchObject({
      code: "SNAPSHOT_INCOMPLETE",
      message: expect.stringMatching(why),
      advice: expect.stringMatching(/.+/),
    });
  });

  it("without a place to put it", async () => {
    const folder = testFolder(app);
    const description: SpawnDescription = {
      ...describe("node", ["app/main.js"], { cwd: folder, env }),
      guard: "snapshot",
    };
    const { pin } = await describeLaunch(description, { measurer });
    const promise = attestedSpawn({
      description: { ...description, digest: pin.digest },
      policy: { allowUnmeasuredSpawn: false },
      record: () => Promise.resolve(),
      spawn: () => Promise.reject(new Error("must not be reached")),
      end: () => Promise.resolve(),
      measurer,
    });
    expect(await refusal(promise)).toBe("SNAPSHOT_FAILED");
  });
});
