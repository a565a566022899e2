import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, expect, it, describe as suite } from "vitest";
import { type Measurement, measureLaunch, type SpawnDescription } from "../src/index.js";
import { testFolder } from "./support/folder.js";
import { describe, env, refusal, runLaunch } from "./support/launch.js";
import { sourceMeasurer } from "./support/source-measurer.js";

const measurer = sourceMeasurer();
afterAll(() => measurer.close());
const measure = (description: SpawnDescription): Promise<Measurement> => measureLaunch(description, { measurer });

suite("the target in argv", () => {
  it("is found behind the interpreter's options and relative to cwd", async () => {
    const folder = testFolder({ "srv/main.mjs": 'console.log("ran", process.argv[2])' });
    const args = ["--no-warnings", "--conditions", "x", "srv/main.mjs", "--flag"];
    const measured = await measure(describe("node", args, { cwd: folder, env }));
    expect(measured.target).toEqual({ path: join(folder, "srv/main.mjs"), argument: "srv/main.mjs", inArgv: true });
    expect(runLaunch(measured.launch)).toBe("ran --flag\n");
  });

  it.each([
    { name: "no script at all", args: [], code: "TARGET_MISSING" },
    { name: "standard input", args: ["-"], code: "TARGET_MISSING" },
    { name: "a file that is not there", args: ["none.js"], code: "TARGET_NOT_FOUND" },
    { name: "a name that Node would complete", args: ["main"], code: "TARGET_NOT_FOUND" },
    { name: "a folder, of which Node would choose a file", args: ["."], code: "TARGET_AMBIGUOUS" },
    { name: "an option that nobody knows", args: ["--nobody-knows", "main.js"], code: "TARGET_AMBIGUOUS" },
    { name: "a FIFO", args: ["pipe"], code: "TARGET_NOT_A_FILE" },
    { name: "a device", args: ["/dev/null"], code: "TARGET_NOT_A_FILE" },
    { name: "standard input by its device name", args: ["/dev/stdin"], code: "TARGET_NOT_STABLE" },
    { name: "an inherited descriptor", args: ["/proc/self/fd/3"], code: "TARGET_NOT_STABLE" },
    { name: "a link into /proc", args: ["sneaky.js"], code: "TARGET_NOT_STABLE" },
    { name: "a loop", args: ["loop.js"], code: "LINK_LOOP" },
    { name: "a file with a slash at its end", args: ["main.js/"], code: "TARGET_NOT_FOUND" },
  ])("$name is refused with $code", async ({ args, code }) => {
    const folder = testFolder({
      "main.js": "",
      "sneaky.js": { link: "/proc/self/environ" },
      "loop.js": { link: "loop.js" },
    });
    execFileSync("mkfifo", [join(folder, "pipe")]);
    expect(await refusal(measure(describe("node", args, { cwd: folder, env })))).toBe(code);
  });
});

suite("measureTarget", () => {
  const contents = { "pkg/main.js": "", "pkg/lib.js": "", "other.js": "", "pkg-link": { link: "pkg" } };

  it.each([
    { name: "the script itself", measureTarget: "pkg/main.js", scope: "file" },
    { name: "the script by another way", measureTarget: "./pkg-link/../pkg/main.js", scope: "file" },
    { name: "a folder that holds the script", measureTarget: "pkg", scope: "tree" },
    { name: "a link to that folder", measureTarget: "pkg-link", scope: "tree" },
  ])("may be $name", async ({ measureTarget, scope }) => {
    const folder = testFolder(contents);
    const measured = await measure(describe("node", ["pkg/main.js"], { cwd: folder, env, measureTarget }));
    expect(measured).toMatchObject({ target: { inArgv: true, argument: "pkg/main.js" }, coverage: { scope } });
  });

  it.each([
    { name: "another file", measureTarget: "other.js", args: ["pkg/main.js"] },
    {
      name: "a file that is only an argument of the script",
      measureTarget: "other.js",
      args: ["pkg/main.js", "other.js"],
    },
    { name: "a folder that does not hold the script", measureTarget: "pkg", args: ["other.js", "pkg"] },
    { name: "the program, where a script runs", measureTarget: "/bin/true", args: ["other.js"] },
  ])("may not be $name, unless the caller says so", async ({ measureTarget, args }) => {
    const folder = testFolder(contents);
    const description = describe("node", args, { cwd: folder, env, measureTarget });
    expect(await refusal(measure(description))).toBe("TARGET_NOT_IN_ARGV");
    const allowed = await measure({ ...description, allowTargetOutsideArgv: true });
    expect(allowed.target).toEqual({ path: expect.stringContaining("/"), argument: undefined, inArgv: false });
  });

  it("that is not there is refused, whatever is allowed", async () => {
    const folder = testFolder(contents);
    const more = { cwd: folder, env, measureTarget: "none", allowTargetOutsideArgv: true };
    expect(await refusal(measure(describe("node", ["other.js"], more)))).toBe("TARGET_NOT_FOUND");
  });

  it("of a program that nobody knows may be one of its arguments; the program is then the interpreter", async () => {
    const folder = testFolder({ "data.bin": "x" });
    const measured = await measure(
      describe("/bin/true", ["--load", "data.bin"], { cwd: folder, env, measureTarget: "data.bin" }),
    );
    expect(measured.target).toEqual({ path: join(folder, "data.bin"), argument: "data.bin", inArgv: true });
    expect(measured.interpreter).toMatchObject({ family: "other", path: "/bin/true" });
  });

  it("may name the program itself", async () => {
    const measured = await measure(describe("/bin/true", [], { env, measureTarget: "/bin/true" }));
    expect(measured.target.inArgv).toBe(true);
    expect(measured.interpreter).toBeUndefined();
  });
});

suite("a description that cannot be used", () => {
  it.each([
    { name: "an unknown member", change: { comand: "x" } },
    { name: "an empty command", change: { command: "" } },
    { name: "a command with NUL", change: { command: "a\0b" } },
    { name: "an argument that is no text", change: { args: [1] } },
    { name: "args that are no list", change: { args: "x" } },
    { name: "an argument with NUL", change: { args: ["\0"] } },
    { name: "half of a surrogate pair", change: { args: ["\ud800"] } },
    { name: "too many arguments", change: { args: Array.from({ length: 4097 }, () => "x") } },
    { name: "an endless argument", change: { args: ["x".repeat(131_073)] } },
    { name: "an environment that is no object", change: { env: null } },
    { name: "a variable name with =", change: { env: { "A=B": "" } } },
    { name: "a variable that is no text", change: { env: { A: undefined } } },
    { name: "an empty cwd", change: { cwd: "" } },
    { name: "a guard of its own", change: { guard: "watch" } },
    { name: "a flag that is no flag", change: { allowTargetOutsideArgv: "yes" } },
    { name: "a digest in upper case", change: { digest: `sha256:${"A".repeat(64)}` } },
    { name: "a digest of another kind", change: { digest: `md5:${"a".repeat(64)}` } },
    { name: "an interpreter without a digest", change: { interpreter: { path: "/x" } } },
    {
      name: "an interpreter with a digest of the wrong kind",
      change: { interpreter: { path: "/x", digest: `tree-v1:${"a".repeat(64)}` } },
    },
  ])("$name is refused, naming the member", async ({ change }) => {
    const description: SpawnDescription = Object.assign({ command: "/bin/true", args: [], env: {} }, change);
    await expect(measure(description)).rejects.toMatchObject({
      code: "DESCRIPTION_INVALID",
      message: expect.stringContaining(`spawn.${Object.keys(change)[0]}`),
    });
  });
});
