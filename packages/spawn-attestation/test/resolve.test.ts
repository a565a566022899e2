import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, expect, it, describe as suite } from "vitest";
import { type Measurement, measureLaunch, type SpawnDescription } from "../src/index.js";
import { testFolder } from "./support/folder.js";
import { describe, env, nodePath, refusal, runLaunch } from "./support/launch.js";
import { sourceMeasurer } from "./support/source-measurer.js";

const measurer = sourceMeasurer();
afterAll(() => measurer.close());
const measure = (description: SpawnDescription): Promise<Measurement> => measureLaunch(description, { measurer });

suite("finding the command", () => {
  it("takes the first executable file on the PATH of the listed environment, passing over what cannot run", async () => {
    const folder = testFolder({
      "one/tool": "not executable",
      "two/tool/x": "a folder of that name",
      "three/tool": { program: "#!/bin/sh\necho three\n" },
      "four/tool": { program: "#!/bin/sh\necho four\n" },
    });
    const path = ["one", "two", "none", "three", "four"].map((name) => join(folder, name)).join(":");
    const { launch, target } = await measure(describe("tool", [], { env: { PATH: `${path}:/bin` } }));
    expect(launch).toMatchObject({ file: join(folder, "three/tool"), argv0: "tool" });
    expect(target).toEqual({ path: join(folder, "three/tool"), argument: join(folder, "three/tool"), inArgv: true });
    expect(runLaunch(launch)).toBe("three\n");
  });

  it("does not look on PATH for what holds a slash, and takes it relative to cwd", async () => {
    const folder = testFolder({ "bin/tool": { program: "#!/bin/sh\necho mine\n" } });
    const { launch } = await measure(describe("bin/tool", [], { cwd: folder, env: { PATH: "/nowhere" } }));
    expect(launch).toMatchObject({ file: `${folder}/bin/tool`, argv0: "bin/tool", cwd: folder });
    expect(runLaunch(launch)).toBe("mine\n");
  });

  it("without PATH looks where the system would, and with an empty one nowhere", async () => {
    const folder = testFolder({ true: { program: "#!/bin/sh\n" } });
    expect((await measure(describe("true", [], { cwd: folder, env: {} }))).launch.file).toBe("/bin/true");
    expect(await refusal(measure(describe("true", [], { cwd: folder, env: { PATH: "" } })))).toBe("COMMAND_NOT_FOUND");
    const { launch } = await measure(describe("true", [], { cwd: folder, env: { PATH: "/none:" } }));
    expect(launch.file).toBe(`${folder}/./true`);
  });

  it("refuses a program with two names that mean different interpreters", async () => {
    const folder = testFolder({ node: { link: "/bin/sh" }, "s.js": "" });
    expect(await refusal(measure(describe("./node", ["s.js"], { cwd: folder, env })))).toBe("TARGET_AMBIGUOUS");
  });

  it("follows the kernel behind symlinks: x/.. is the folder above where x leads", async () => {
    const folder = testFolder({
      "a/deep/here/f": "",
      "a/deep/tool": { program: "#!/bin/sh\necho right\n" },
      tool: { program: "#!/bin/sh\necho wrong\n" },
      link: { link: "a/deep/here" },
    });
    const { launch, target } = await measure(describe("./link/../tool", [], { cwd: folder, env }));
    expect(target.path).toBe(join(folder, "a/deep/tool"));
    expect(runLaunch(launch)).toBe("right\n");
  });

  it("measures the real file at the end of the symlinks and runs it by the path as written", async () => {
    const folder = testFolder({
      "real/main": { program: "#!/bin/sh\necho $0\n" },
      "via/main": { link: "../real/main" },
      entry: { link: "via/main" },
    });
    const { launch, executable } = await measure(describe("./entry", [], { cwd: folder, env }));
    expect(executable).toMatchObject({ path: `${folder}/./entry`, realPath: join(folder, "real/main") });
    expect(runLaunch(launch)).toBe(`${folder}/./entry\n`);
  });

  it.each([
    { name: "a name that is nowhere on PATH", command: "no-such-program", code: "COMMAND_NOT_FOUND" },
    { name: "a path to nothing", command: "./nothing", code: "COMMAND_NOT_FOUND" },
    { name: "a folder", command: "./folder", code: "COMMAND_NOT_A_FILE" },
    { name: "a file with a slash at its end", command: "./plain/", code: "COMMAND_NOT_FOUND" },
    { name: "a file that may not be executed", command: "./plain", code: "COMMAND_NOT_EXECUTABLE" },
    { name: "a program of unknown format", command: "./text", code: "EXECUTABLE_FORMAT_UNKNOWN" },
    { name: "an empty program", command: "./empty", code: "EXECUTABLE_FORMAT_UNKNOWN" },
    { name: "a loop of symlinks", command: "./loop", code: "LINK_LOOP" },
    { name: "a FIFO", command: "./pipe", code: "COMMAND_NOT_A_FILE" },
    { name: "a device", command: "/dev/null", code: "COMMAND_NOT_A_FILE" },
    {
      name: "a file of /proc, which is another one in the child",
      command: "/proc/self/exe",
      code: "TARGET_NOT_STABLE",
    },
    { name: "a path longer than the system takes", command: `./${"x".repeat(5000)}`, code: "UNREADABLE" },
  ])("$name is refused with $code", async ({ command, code }) => {
    const folder = testFolder({
      "folder/f": "",
      plain: "x",
      text: { program: "echo hello\n" },
      empty: { program: "" },
      loop: { link: "loop" },
    });
    execFileSync("mkfifo", [join(folder, "pipe")]);
    expect(await refusal(measure(describe(command, [], { cwd: folder, env })))).toBe(code);
  });

  it.each([
    { cwd: "/no/such/folder", code: "CWD_NOT_FOUND" },
    { cwd: "/etc/passwd", code: "CWD_NOT_FOUND" },
    { cwd: "/proc/self/cwd", code: "TARGET_NOT_STABLE" },
  ])("the working folder $cwd is refused with $code", async ({ cwd, code }) => {
    expect(await refusal(measure(describe("true", [], { cwd, env })))).toBe(code);
  });

  it("a native program is its own target and has no interpreter", async () => {
    const measured = await measure(describe("/bin/true", ["--anything"], { env }));
    expect(measured.interpreter).toBeUndefined();
    expect(measured).toMatchObject({ coverage: { scope: "file", leavesOut: [] }, target: { inArgv: true } });
    expect(measured.digest).toBe(measured.executable.digest);
  });
});

suite("scripts and the chain of #! lines", () => {
  it.each([
    { name: "an absolute interpreter", line: "#!/bin/sh", parts: 0, family: "shell" },
    { name: "blanks around it", line: "#! \t/bin/sh \t", parts: 0, family: "shell" },
    { name: "an option", line: "#!/bin/sh -e", parts: 0, family: "shell" },
    { name: "env", line: "#!/usr/bin/env sh", parts: 1, family: "shell" },
    { name: "env -S with options", line: "#!/usr/bin/env -S sh -e -u", parts: 1, family: "shell" },
    { name: "env -S with a variable", line: "#!/usr/bin/env -S X=1 sh", parts: 1, family: "shell" },
    { name: "env twice", line: "#!/usr/bin/env -S /usr/bin/env sh", parts: 2, family: "shell" },
  ])("$name: the script is the target, its interpreter is measured", async ({ line, parts, family }) => {
    const folder = testFolder({ tool: { program: `${line}\necho ran "$1"\n` } });
    const measured = await measure(describe("./tool", ["arg"], { cwd: folder, env }));
    expect(measured.target).toMatchObject({ path: join(folder, "tool"), inArgv: true });
    expect(measured.interpreter).toMatchObject({ family, kind: "program" });
    expect(measured.interpreter?.parts).toHaveLength(parts);
    expect(runLaunch(measured.launch)).toBe("ran arg\n");
  });

  it("a script that interprets a script is the interpreter, and its own shell is a part of it", async () => {
    const folder = testFolder({ wrap: { program: '#!/bin/sh\necho wrapped "$1"\n' } });
    const tool = { program: `#!${folder}/wrap\nanything\n` };
    const inner = testFolder({ tool });
    const measured = await measure(describe("./tool", [], { cwd: inner, env }));
    expect(measured.target.path).toBe(join(inner, "tool"));
    expect(measured.interpreter).toMatchObject({ family: "other", kind: "program", path: join(folder, "wrap") });
    expect(measured.interpreter?.parts.map(({ path }) => path)).toEqual(["/bin/sh"]);
    expect(measured.coverage.leavesOut).toContain("called-programs");
    expect(runLaunch(measured.launch)).toBe(`wrapped ${inner}/./tool\n`);
  });

  it.each([
    { name: "an interpreter that is not there", line: "#!/no/such/interpreter", code: "INTERPRETER_NOT_FOUND" },
    { name: "env with a name that is nowhere", line: "#!/usr/bin/env no-such-program", code: "INTERPRETER_NOT_FOUND" },
    { name: "a bare name, which the kernel does not look up", line: "#!sh", code: "INTERPRETER_NOT_FOUND" },
    { name: "a carriage return", line: "#!/bin/sh\r", code: "SHEBANG_INVALID" },
    { name: "no interpreter", line: "#!", code: "SHEBANG_INVALID" },
    { name: "a line longer than the kernel reads", line: `#!/bin/sh ${"x".repeat(300)}`, code: "SHEBANG_INVALID" },
    {
      name: "env -S with a variable that is only known later",
      line: `#!/usr/bin/env -S ${"$"}{INTERPRETER}`,
      code: "SHEBANG_INVALID",
    },
    {
      name: "env with an option that changes the folder",
      line: "#!/usr/bin/env -S -C /tmp sh",
      code: "SHEBANG_INVALID",
    },
    { name: "env -S with an open quote", line: "#!/usr/bin/env -S sh 'x", code: "SHEBANG_INVALID" },
    { name: "a launcher", line: "#!/usr/bin/env -S npx tsx", code: "LAUNCHER_WITHOUT_TARGET" },
    { name: "itself", line: "#!/usr/bin/env -S env env env env env env env env env sh", code: "SHEBANG_TOO_DEEP" },
  ])("$name is refused with $code", async ({ line, code }) => {
    const folder = testFolder({ tool: { program: `${line}\n` }, npx: { program: "#!/bin/sh\n" } });
    const path = { PATH: `${env["PATH"]}:${folder}` };
    expect(await refusal(measure(describe("./tool", [], { cwd: folder, env: path })))).toBe(code);
  });

  it("env as the command is on the way, and the script behind it is the target", async () => {
    const folder = testFolder({ "s.js": "console.log(process.env.X)" });
    const measured = await measure(describe("env", ["-u", "Y", "X=7", "node", "s.js"], { cwd: folder, env }));
    expect(measured).toMatchObject({ target: { argument: "s.js", inArgv: true }, interpreter: { family: "node" } });
    expect(runLaunch(measured.launch)).toBe("7\n");
  });

  it("env with nothing to run is refused", async () => {
    expect(await refusal(measure(describe("env", ["X=1"], { env })))).toBe("TARGET_MISSING");
  });
});

suite("a symlinked entry of node_modules/.bin", () => {
  it("runs by the link, and what is measured is the package that it leads to", async () => {
    const folder = testFolder({
      "node_modules/srv/package.json": '{"name":"srv","version":"1.2.3","type":"module"}',
      "node_modules/srv/dist/index.js": {
        program: '#!/usr/bin/env node\nimport "./more.js";\nconsole.log(process.argv[1]);\n',
      },
      "node_modules/srv/dist/more.js": "",
      "node_modules/.bin/srv": { link: "../srv/dist/index.js" },
    });
    const measured = await measure(describe("node_modules/.bin/srv", [], { cwd: folder, env }));
    expect(measured.coverage).toMatchObject({ scope: "tree", root: join(folder, "node_modules/srv") });
    expect(measured.launch.file).toBe(`${folder}/node_modules/.bin/srv`);
    expect(measured.interpreter).toMatchObject({ path: expect.stringMatching(/\/node$/), realPath: nodePath });
    expect(runLaunch(measured.launch)).toBe(`${folder}/node_modules/.bin/srv\n`);
  });

  it("that is a shell wrapper is refused, naming the script that it starts", async () => {
    const wrapper = `#!/bin/sh
basedir=$(dirname "$(echo "$0" | sed -e 's,\\\\,/,g')")
if [ -x "$basedir/node" ]; then
  exec "$basedir/node"  "$basedir/../srv/index.js" "$@"
else
  exec node  "$basedir/../srv/index.js" "$@"
fi
`;
    const folder = testFolder({ "node_modules/.bin/srv": { program: wrapper } });
    const promise = measure(describe("node_modules/.bin/srv", [], { cwd: folder, env }));
    await expect(promise).rejects.toMatchObject({
      code: "COMMAND_IS_SHIM",
      advice: expect.stringContaining("node_modules/.bin/../srv/index.js"),
    });
  });
});
