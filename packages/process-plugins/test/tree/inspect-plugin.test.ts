import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createMeasurer } from "@berth/spawn-attestation";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
import type { InspectOptions, ProcessPluginError } from "../../src/index.js";
import { inspectPlugin } from "../../src/tree/inspect-plugin.js";
import { emptyFolder, fill, manifestText, pluginFolder, script } from "../support/plugin-folder.js";
import { rejection } from "../support/rejection.js";

const problemsOf = async (folder: string, options?: InspectOptions): Promise<readonly string[]> => {
  const error = await rejection(inspectPlugin(folder, options));
  expect(error.code).toBe("PLUGIN_REJECTED");
  return error.problems;
};

describe("a plugin's folder", () => {
  it("is read, checked and measured, and nothing of it is started", async () => {
    const marker = join(emptyFolder(), "ran");
    const folder = pluginFolder(`touch ${marker}`, { "lib/a": "abc" });
    const plugin = await inspectPlugin(folder);
    expect(plugin).toMatchObject({ root: folder, executable: join(folder, "bin/plugin"), files: 3 });
    expect(plugin.manifest.name).toBe("smoke");
    expect(plugin.interpreter).toBe("/bin/sh");
    expect(plugin.digest).toMatch(/^tree-v1:[0-9a-f]{64}$/);
    expect(existsSync(marker)).toBe(false);
  });

  it("behind a link is the folder that it leads to", async () => {
    const folder = pluginFolder();
    const link = join(emptyFolder(), "link");
    symlinkSync(folder, link);
    expect(await inspectPlugin(link)).toMatchObject({ root: folder });
  });

  it("tells the faults of manifest, executable and folder at once", async () => {
    const folder = fill(emptyFolder(), {
      "plugin.json": { text: manifestText({ typo: 1 }), mode: 0o666 },
      "a/b": { text: "", mode: 0o4755 },
      "a/out": { link: "../not-there" },
    });
    const [, ...rest] = await problemsOf(folder);
    expect((await problemsOf(folder))[0]).toBe("typo is no key of a manifest");
    expect(rest).toEqual([
      "a/b is set-user-ID or set-group-ID (mode 4755)",
      "a/out is a link that leads nowhere",
      "plugin.json may be written by its group or by others (mode 0666)",
    ]);
  });

  it.each([
    {
      name: "nothing",
      make: () => join(emptyFolder(), "x"),
      problem: /^the folder .* cannot be looked at \(ENOENT\)$/,
    },
    { name: "a file", make: () => join(fill(emptyFolder(), { x: "" }), "x"), problem: / is no folder$/ },
    { name: "an empty folder", make: emptyFolder, problem: "plugin.json is missing" },
    {
      name: "one whose manifest is a folder",
      make: () => fill(emptyFolder(), { "plugin.json/": "" }),
      problem: "plugin.json is no regular file",
    },
    {
      name: "one whose manifest is a link",
      make: () => fill(emptyFolder(), { "plugin.json": { link: "m" }, m: manifestText(), "bin/plugin": script("") }),
      problem: "plugin.json is no regular file",
    },
    {
      name: "one whose manifest is a byte larger than it may be",
      make: () => fill(emptyFolder(), { "plugin.json": " ".repeat(262_145) }),
      problem: "plugin.json is larger than 262144 bytes",
    },
  ])("that is $name is rejected", async ({ make, problem }) => {
    const problems = await problemsOf(make());
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });

  it.each([
    { name: "is missing", files: {}, problem: "process.command ./bin/plugin is missing" },
    {
      name: "has no execute bit",
      files: { "bin/plugin": "#!/bin/sh\n" },
      problem: "process.command ./bin/plugin has no execute bit",
    },
    { name: "is a folder", files: { "bin/plugin/": "" }, problem: "process.command ./bin/plugin is no regular file" },
    {
      name: "lies below a file",
      files: { bin: "" },
      problem: "process.command ./bin/plugin cannot be executed (ENOTDIR)",
    },
  ])("whose executable $name is rejected", async ({ files, problem }) => {
    expect(await problemsOf(fill(emptyFolder(), { "plugin.json": manifestText(), ...files }))).toEqual([problem]);
  });

  it.each([
    {
      name: "neither a program nor a script",
      text: "echo hello\n",
      problem: /is no native program and has no #! line/,
    },
    { name: "a script without an interpreter that is there", text: "#!/no/such/thing\n", problem: /\/no\/such\/thing/ },
  ])("whose executable is $name is rejected", async ({ text, problem }) => {
    const folder = fill(emptyFolder(), { "plugin.json": manifestText(), "bin/plugin": { text, mode: 0o755 } });
    expect((await problemsOf(folder))[0]).toMatch(problem);
  });

  it("whose executable is reached through links inside is taken by its real file", async () => {
    const folder = fill(emptyFolder(), {
      "plugin.json": manifestText(),
      bin: { link: "versions/1/bin" },
      "versions/1/bin/plugin": { link: "../lib/real" },
      "versions/1/lib/real": script("exit 0"),
    });
    expect(await inspectPlugin(folder)).toMatchObject({ executable: join(folder, "versions/1/lib/real") });
  });

  it("whose executable is reached through a link that leads out is rejected twice over", async () => {
    const folder = fill(emptyFolder(), {
      "plugin.json": manifestText(),
      "bin/plugin": { link: "../../../../../../../../../../../bin/sh" },
    });
    expect(await problemsOf(folder)).toEqual([
      "process.command ./bin/plugin leads out of the folder",
      "bin/plugin is a link that leads out of the folder",
    ]);
  });
});

describe("what others could change", () => {
  it.each([
    {
      name: "a file that its group may write",
      path: "lib/a",
      mode: 0o664,
      problem: "lib/a may be written by its group or by others (mode 0664)",
    },
    {
      name: "a file that all may write",
      path: "lib/a",
      mode: 0o646,
      problem: "lib/a may be written by its group or by others (mode 0646)",
    },
    {
      name: "a folder that its group may write",
      path: "lib",
      mode: 0o775,
      problem: "lib may be written by its group or by others (mode 0775)",
    },
    {
      name: "a folder as open as /tmp",
      path: "lib",
      mode: 0o1777,
      problem: "lib may be written by its group or by others (mode 1777)",
    },
    {
      name: "a set-group-ID file",
      path: "lib/a",
      mode: 0o2755,
      problem: "lib/a is set-user-ID or set-group-ID (mode 2755)",
    },
    {
      name: "a set-group-ID folder",
      path: "lib",
      mode: 0o2755,
      problem: "lib is set-user-ID or set-group-ID (mode 2755)",
    },
    {
      name: "the folder itself",
      path: ".",
      mode: 0o777,
      problem: "the folder may be written by its group or by others (mode 0777)",
    },
  ])("is refused: $name", async ({ path, mode, problem }) => {
    const folder = pluginFolder("exit 0", { "lib/a": "" });
    chmodSync(join(folder, path), mode);
    const error = await rejection(inspectPlugin(folder));
    expect(error.problems).toEqual([problem]);
    expect(error.advice).toContain("chmod -R go-w");
  });

  it("is refused where a folder above may be written, but not where only owners can exchange what is in it", async () => {
    const above = emptyFolder();
    const folder = fill(join(above, "a/plugin"), { "plugin.json": manifestText(), "bin/plugin": script("exit 0") });
    chmodSync(above, 0o777);
    expect(await problemsOf(folder)).toEqual([
      `${above}, in which the folder lies, may be written by its group or by others (mode 0777)`,
    ]);
    chmodSync(above, 0o1777);
    expect(await inspectPlugin(folder)).toMatchObject({ root: folder });
  });

  partTest("ordinary-user")("is refused where another user owns it, or a folder above", async () => {
    const folder = pluginFolder("exit 0", { "lib/a": "" });
    chownSync(join(folder, "lib/a"), 65_534, 65_534);
    expect(await problemsOf(folder)).toEqual(["lib/a belongs to the user 65534, who could change it"]);
    chownSync(join(folder, "lib/a"), 0, 65_534);
    expect(await inspectPlugin(folder)).toMatchObject({ root: folder });
    chownSync(folder, 65_534, 0);
    expect(await problemsOf(folder)).toEqual(["the folder belongs to the user 65534, who could change it"]);
    const above = emptyFolder();
    const below = fill(join(above, "plugin"), { "plugin.json": manifestText(), "bin/plugin": script("exit 0") });
    chownSync(above, 65_534, 0);
    expect(await problemsOf(below)).toEqual([
      `${above}, in which the folder lies, belongs to the user 65534, who could change it`,
    ]);
  });

  it("is not a file that has a second name elsewhere: who may write to it is the same", async () => {
    const folder = pluginFolder();
    const cache = fill(emptyFolder(), { module: "x" });
    linkSync(join(cache, "module"), join(folder, "module"));
    expect(await inspectPlugin(folder)).toMatchObject({ files: 3 });
  });
});

describe("links", () => {
  it.each([
    {
      name: "out of the folder",
      link: "../../other",
      make: true,
      problem: "lib/l is a link that leads out of the folder",
    },
    {
      name: "to an absolute path",
      link: "/etc/hostname",
      problem: "lib/l is a link with an absolute path: write it relative to its own place",
    },
    { name: "nowhere", link: "missing", problem: "lib/l is a link that leads nowhere" },
    { name: "below a file", link: "../plugin.json/x", problem: "lib/l is a link that leads nowhere" },
    { name: "to itself", link: "l", problem: "lib/l is a link that leads in a circle" },
  ])("that lead $name are refused", async ({ link, make, problem }) => {
    const above = emptyFolder();
    if (make) fill(above, { other: "secret" });
    const folder = fill(join(above, "plugin"), {
      "plugin.json": manifestText(),
      "bin/plugin": script("exit 0"),
      "lib/l": { link },
    });
    expect(await problemsOf(folder)).toEqual([problem]);
  });

  it("that go out of the folder and come back are refused", async () => {
    const above = emptyFolder();
    const folder = fill(join(above, "plugin"), {
      "plugin.json": manifestText(),
      "bin/plugin": script("exit 0"),
      l: { link: "../plugin/bin" },
    });
    expect((await problemsOf(folder))[0]).toContain('leads to "../plugin/bin", outside');
  });

  it("that stay inside are part of the digest by where they lead", async () => {
    const one = await inspectPlugin(pluginFolder("exit 0", { a: "", b: "", l: { link: "a" } }));
    const other = await inspectPlugin(pluginFolder("exit 0", { a: "", b: "", l: { link: "b" } }));
    expect(one.digest).not.toBe(other.digest);
  });

  it("to a folder outside with the same beginning of its name are refused", async () => {
    const above = emptyFolder();
    fill(above, { "plugin-2/x": "" });
    const folder = fill(join(above, "plugin"), {
      "plugin.json": manifestText(),
      "bin/plugin": script("exit 0"),
      l: { link: "../plugin-2" },
    });
    expect(await problemsOf(folder)).toEqual(["l is a link that leads out of the folder"]);
  });
});

describe("what is neither file, folder nor link", () => {
  it("is refused, and a named pipe is never opened", async () => {
    const folder = pluginFolder();
    execFileSync("mkfifo", [join(folder, "pipe")]);
    expect(await problemsOf(folder)).toEqual(["pipe is a named pipe"]);
  });

  it("is refused in the place of the manifest and of the executable", async () => {
    const folder = emptyFolder();
    execFileSync("mkfifo", [join(folder, "plugin.json")]);
    expect(await problemsOf(folder)).toEqual(["plugin.json is no regular file", "plugin.json is a named pipe"]);
    const other = fill(emptyFolder(), { "plugin.json": manifestText(), "bin/": "" });
    execFileSync("mkfifo", ["-m", "0755", join(other, "bin/plugin")]);
    expect(await problemsOf(other)).toEqual([
      "process.command ./bin/plugin is no regular file",
      "bin/plugin is a named pipe",
    ]);
  });

  it("is refused: a socket", async () => {
    const folder = pluginFolder();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder, "s"), resolve));
    try {
      expect(await problemsOf(folder)).toEqual(["s is a socket"]);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  partTest("ordinary-user")("is refused: a device", async () => {
    const folder = pluginFolder();
    try {
      execFileSync("mknod", [join(folder, "null"), "c", "1", "3"], { stdio: "ignore" });
    } catch {
      return; // a container may forbid it
    }
    expect(await problemsOf(folder)).toEqual(["null is a device"]);
  });
});

describe("the digest", () => {
  it("covers every file, also those that others leave out", async () => {
    const files = [
      ".git/config",
      "__pycache__/x.pyc",
      "lib/__pycache__/y.cpython-311.pyc",
      ".venv/pyvenv.cfg",
      "node_modules/a/index.js",
      ".gitignore",
      ".DS_Store",
      "x.pyc",
      ".hidden",
    ];
    const digests = new Set<string>();
    await using measurer = createMeasurer();
    for (const line of ["#!/bin/sh", "#!/usr/bin/env python3"]) {
      const folder = fill(pluginFolder(`${line}\n`), { "pyproject.toml": "", "package.json": '{"name":"x"}' });
      digests.add((await inspectPlugin(folder, { measurer })).digest);
      for (const file of files) {
        fill(folder, { [file]: "1" });
        digests.add((await inspectPlugin(folder, { measurer })).digest);
        writeFileSync(join(folder, file), "2");
        digests.add((await inspectPlugin(folder, { measurer })).digest);
      }
    }
    expect(digests.size).toBe(2 * (1 + 2 * files.length));
  });

  partTest("python3")("is the one that ten lines of Python compute", async () => {
    const folder = pluginFolder("#!/usr/bin/env python3\n", {
      ".git/config": "x",
      "__pycache__/a.pyc": "y",
      "empty/": "",
      l: { link: "empty" },
      "ä b": "z",
    });
    const recompute = fileURLToPath(new URL("../../../../fixtures/tree-v1/recompute.py", import.meta.url));
    const told = execFileSync("python3", [recompute, folder], { encoding: "utf8" });
    expect(told).toContain((await inspectPlugin(folder)).digest);
  });

  it("that was admitted is held against what is there", async () => {
    const folder = pluginFolder("exit 0", { a: "1" });
    const { digest } = await inspectPlugin(folder);
    expect(await inspectPlugin(folder, { digest })).toMatchObject({ digest });
    writeFileSync(join(folder, "a"), "2");
    const error = await rejection(inspectPlugin(folder, { digest }));
    expect(error).toMatchObject({
      code: "PLUGIN_CHANGED",
      plugin: "smoke",
      measured: expect.stringMatching(/^tree-v1:/),
    });
    expect(error.message).toContain(digest);
  });

  it.each([
    { name: "a script with an interpreter's name", shim: "bin/python3" },
    { name: "one in a folder for shims", shim: "shims/python" },
  ])("is taken without running what stands for an interpreter: $name", async ({ shim }) => {
    const folder = emptyFolder();
    const marker = join(emptyFolder(), "ran");
    fill(folder, {
      "plugin.json": manifestText(),
      "bin/plugin": script(`#!${folder}/${shim}\n`),
      [shim]: script(`touch ${marker}; echo /usr/bin/python3`),
    });
    expect((await rejection(inspectPlugin(folder))).code).toBe("PLUGIN_REJECTED");
    expect(existsSync(marker)).toBe(false);
  });
});

describe("the size", () => {
  it("is bounded in entries and in bytes, to the last one", async () => {
    const folder = pluginFolder("exit 0", { a: "1" }); // plugin.json, bin, bin/plugin, a
    expect(await inspectPlugin(folder, { maxEntries: 4 })).toMatchObject({ files: 3 });
    expect(await problemsOf(folder, { maxEntries: 3 })).toEqual(["the folder has more than 3 entries"]);
    const { bytes } = await inspectPlugin(folder);
    expect(await inspectPlugin(folder, { maxTreeBytes: bytes })).toMatchObject({ bytes });
    expect(await problemsOf(folder, { maxTreeBytes: bytes - 1 })).toEqual([
      `the files of the folder have more than ${bytes - 1} bytes`,
    ]);
  });

  it("of a file with holes is what it seems, and it is not read", async () => {
    const folder = pluginFolder("exit 0", { holes: "" });
    truncateSync(join(folder, "holes"), 100 * 1024 ** 3);
    expect(await problemsOf(folder)).toEqual(["the files of the folder have more than 1073741824 bytes"]);
  });

  it("may make a folder deeper than the system can name", async () => {
    const folder = pluginFolder();
    execFileSync("sh", [
      "-c",
      'cd "$0" && i=0 && while [ $i -lt 60 ]; do mkdir "$1" && cd -P "./$1" || exit; i=$((i+1)); done',
      folder,
      "d".repeat(100),
    ]);
    const problems = await problemsOf(folder);
    expect(problems.some((problem) => problem.includes("ENAMETOOLONG"))).toBe(true);
    execFileSync("rm", ["-rf", folder]);
  });

  it.each([
    { option: "digest", value: { digest: "sha256:00" } },
    { option: "maxEntries", value: { maxEntries: 0 } },
    { option: "maxEntries", value: { maxEntries: 1_000_001 } },
    { option: "maxTreeBytes", value: { maxTreeBytes: 1.5 } },
  ])("and the other options are checked: $value", async ({ option, value }) => {
    const error: ProcessPluginError = await rejection(inspectPlugin(pluginFolder(), value));
    expect(error.code).toBe("OPTION_INVALID");
    expect(error.message).toContain(option);
  });
});

describe("names", () => {
  it("that are no text are measured and told escaped", async () => {
    const folder = pluginFolder();
    const name = Buffer.from([0x1b, 0x5b, 0x32, 0x4a, 0xff]);
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), name]), "x");
    expect(await inspectPlugin(folder)).toMatchObject({ files: 3 });
    chmodSync(Buffer.concat([Buffer.from(`${folder}/`), name]), 0o666);
    expect(await problemsOf(folder)).toEqual([
      '"\\u001b[2J\ufffd" may be written by its group or by others (mode 0666)',
    ]);
  });
});

it("an abort ends the inspection with its reason", async () => {
  const reason = new Error("enough");
  await expect(inspectPlugin(pluginFolder(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const folder = pluginFolder();
  mkdirSync(join(folder, "many"));
  for (let index = 0; index < 200; index += 1) writeFileSync(join(folder, "many", String(index)), "");
  const controller = new AbortController();
  const inspection = inspectPlugin(folder, { signal: controller.signal });
  controller.abort(reason);
  await expect(inspection).rejects.toBe(reason);
});
