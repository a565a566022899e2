// Which file the supervisors execute, and that none of them ever hands one to a shell.
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openChildOn } from "../src/child.js";
import { type HostSystem, thisHost } from "../src/host-system.js";
import type { ChildHandle, ChildOptions } from "../src/index.js";
import { createRecorder, failure, soon } from "./recorder.js";

const scratch = mkdtempSync(join(tmpdir(), "berth-executing-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A folder with executable files. */
function folderOf(name: string, files: Readonly<Record<string, string>>, mode = 0o755): string {
  const folder = join(scratch, name);
  mkdirSync(folder, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text, { mode });
  return folder;
}

const trace = join(scratch, "trace");
const formats = folderOf("formats", {
  text: `touch ${trace}\n`,
  empty: "",
  blank: `\n#!/bin/sh\ntouch ${trace}\n`,
  "half-an-elf": `\u007fELF\ntouch ${trace}\n`,
});

const says = (word: string): string => `#!/bin/sh\necho '{"file":"${word}"}'\n`;
const first = folderOf("first", { both: says("first"), "only-first": says("first") });
const second = folderOf("second", { both: says("second"), barred: says("second"), "only-second": says("second") });
const barred = folderOf("barred", { barred: says("barred"), "only-barred": says("barred") }, 0o644);
const here = folderOf("here", { both: says("here") });
writeFileSync(join(scratch, "no-folder"), "");

/** What it wrote until it ended. */
async function linesOf(child: ChildHandle): Promise<readonly string[]> {
  const recorder = createRecorder();
  child.transport.start(recorder);
  await recorder.closed;
  await child.ended;
  return recorder.frames;
}

const perl: HostSystem = thisHost();
const withoutPerl: HostSystem = { ...perl, findTool: () => undefined };

describe.each([
  { supervisor: "perl, namespace or group", host: perl, containment: "auto" },
  { supervisor: "perl, group", host: perl, containment: "group" },
  { supervisor: "a shell", host: withoutPerl, containment: "group" },
] as const)("the file of a command ($supervisor)", ({ host, containment }) => {
  const start = (options: Partial<ChildOptions> & { file: string }): ReturnType<typeof openChildOn> =>
    openChildOn(host, { args: [], env: {}, cwd: here, containment, ...options });

  it.each([
    { name: "text" },
    { name: "empty" },
    { name: "blank" },
    // A shell that stands in for Perl takes it for a script: README, Launchers.
    ...(host === perl ? [{ name: "half-an-elf" }] : []),
  ])("is not started and never read by a shell when its format is unknown: $name", async ({ name }) => {
    for (const options of [{ file: join(formats, name) }, { file: name, env: { PATH: formats } }]) {
      expect(await failure(start(options))).toMatchObject({ code: "CHILD_NOT_STARTED", reason: "ENOEXEC" });
    }
    expect(existsSync(trace)).toBe(false);
  });

  it.each([
    { file: "both", path: `${first}:${second}`, answer: "first" },
    { file: "both", path: `${second}:${first}`, answer: "second" },
    { file: "only-second", path: `${first}:${second}`, answer: "second" },
    { file: "only-second", path: `/nowhere:${join(scratch, "no-folder")}:${second}`, answer: "second" },
    { file: "barred", path: `${barred}:${second}`, answer: "second" },
    { file: "both", path: `:${first}`, answer: "here" },
    { file: "both", path: `/nowhere::${first}`, answer: "here" },
    { file: "both", path: "/nowhere:", answer: "here" },
    { file: "./both", path: first, answer: "here" },
  ])("is the first in PATH that can be executed: $file in $path", async ({ file, path, answer }) => {
    const child = await start({ file, env: { PATH: path } });
    expect(await soon(linesOf(child), "its end")).toEqual([`{"file":"${answer}"}`]);
  });

  it.each([
    { file: "only-barred", path: `${barred}:${second}`, reason: "EACCES" },
    { file: "only-barred", path: `${second}:${barred}`, reason: "EACCES" },
    { file: "nowhere", path: `${first}:${second}`, reason: "ENOENT" },
    { file: "", path: first, reason: "ENOENT" },
  ])("says why there is none: $reason for $file", async ({ file, path, reason }) => {
    const error = await failure(start({ file, env: { PATH: path } }));
    expect(error).toMatchObject(file === "" ? { code: "OPTION_INVALID" } : { code: "CHILD_NOT_STARTED", reason });
  });

  it("is looked for in /bin and /usr/bin when the environment has no PATH", async () => {
    const child = await start({ file: "echo", args: ["{}"] });
    expect(await soon(linesOf(child), "its end")).toEqual(["{}"]);
  });

  it("may be a link, and gets each argument and each value as it is", async () => {
    const link = join(scratch, "a link");
    rmSync(link, { force: true });
    symlinkSync("/bin/sh", link);
    const args = ["-c", 'echo "[\\"$1|$2|$3|$VALUE\\"]"', "sh", "", "17", "a  b = ~ $x `id`"];
    const child = await start({ file: link, args, env: { VALUE: "=x= 1" } });
    expect(await soon(linesOf(child), "its end")).toEqual(['["|17|a  b = ~ $x `id`|=x= 1"]']);
  });
});

describe("perl as supervisor", () => {
  it("executes with its own exec where the number of the system call is not known", async () => {
    const unknown: HostSystem = { ...perl, arch: "unknown" };
    const child = await openChildOn(unknown, { file: "both", args: [], env: { PATH: second } });
    expect(await soon(linesOf(child), "its end")).toEqual(['{"file":"second"}']);
    const error = await failure(openChildOn(unknown, { file: "nowhere", args: [], env: { PATH: second } }));
    expect(error).toMatchObject({ code: "CHILD_NOT_STARTED", reason: "ENOENT" });
  });

  it.each(["auto", "group"] as const)("gives the command the argv[0] that was asked for (%s)", async (containment) => {
    const options = { file: "/bin/sh", argv0: "another name", args: ["-c", 'echo "[\\"$0\\"]"'], env: {}, containment };
    const child = await openChildOn(perl, options);
    expect(await soon(linesOf(child), "its end")).toEqual(['["another name"]']);
  });
});
