import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyFolder } from "../../src/check/copy/copy-folder.js";
import { removeFolder } from "../../src/check/copy/remove-folder.js";

let scratch = "";
let source = "";
let target = "";
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "copy-folder-"));
  source = join(scratch, "source");
  target = join(scratch, "target");
  mkdirSync(source);
});
afterEach(async () => {
  await removeFolder(scratch);
});

describe("a copy", () => {
  it("has the same bytes, modes and links, also those that lead nowhere or out", async () => {
    mkdirSync(join(source, "bin"));
    writeFileSync(join(source, "bin/plugin"), Buffer.alloc(3_000_000, "x"));
    writeFileSync(join(source, "empty"), "");
    chmodSync(join(source, "bin/plugin"), 0o4751);
    symlinkSync("bin/plugin", join(source, "link"));
    symlinkSync("/etc/passwd", join(source, "out"));
    symlinkSync("nowhere", join(source, "broken"));
    chmodSync(join(source, "bin"), 0o555);
    expect(await copyFolder(source, target)).toEqual([]);
    expect(readFileSync(join(target, "bin/plugin")).equals(readFileSync(join(source, "bin/plugin")))).toBe(true);
    expect(readFileSync(join(target, "empty"), "utf8")).toBe("");
    const modes = ["bin", "bin/plugin"].map((path) => (lstatSync(join(target, path)).mode & 0o7777).toString(8));
    expect(modes).toEqual(["555", "4751"]);
    const links = ["link", "out", "broken"].map((name) => readlinkSync(join(target, name)));
    expect(links).toEqual(["bin/plugin", "/etc/passwd", "nowhere"]);
  });

  it("opens no pipe and no socket, and says what they are", async () => {
    spawnSync("mkfifo", [join(source, "pipe")]);
    const server = createServer().listen(join(source, "socket"));
    await new Promise((resolve) => server.once("listening", resolve));
    expect(await copyFolder(source, target)).toEqual([
      "pipe is a named pipe, and neither a file, a folder nor a link",
      "socket is a socket, and neither a file, a folder nor a link",
    ]);
    await new Promise((resolve) => server.close(resolve));
  });

  it.each([
    { name: "bytes", limits: { maxBytes: 10 }, problem: /^b goes over the 10 bytes of a folder$/ },
    { name: "entries", limits: { maxEntries: 1 }, problem: /^the folder holds entry 2 of the folder$/ },
  ])("stops at too many $name", async ({ limits, problem }) => {
    writeFileSync(join(source, "a"), "12345678");
    writeFileSync(join(source, "b"), "12345678");
    const problems = await copyFolder(source, target, limits);
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  it("takes a file with a hole for the bytes that it would read", async () => {
    spawnSync("truncate", ["-s", "1T", join(source, "hole")]);
    expect(await copyFolder(source, target, { maxBytes: 5_000_000 })).toEqual([
      "hole goes over the 5000000 bytes of a folder",
    ]);
  });

  it("does not go into folders without end", async () => {
    mkdirSync(join(source, ...Array.from({ length: 140 }, () => "d")), { recursive: true });
    expect(await copyFolder(source, target)).toEqual([expect.stringMatching(/\/d is nested deeper than 128$/)]);
  });

  it("ends with the reason of its signal", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(copyFolder(source, target, { signal })).rejects.toThrow("enough");
  });
});

describe("a folder that a plugin wrote", () => {
  it("is removed also when its folders are deeper than a path can name, or may not be entered", async () => {
    const deep = (top: string): string => join(top, ...Array.from({ length: 700 }, () => "dddd"));
    mkdirSync(deep(join(source, "upper")), { recursive: true });
    mkdirSync(deep(join(scratch, "lower")), { recursive: true });
    renameSync(join(scratch, "lower"), join(deep(join(source, "upper")), "lower"));
    mkdirSync(join(source, "closed/inner"), { recursive: true });
    chmodSync(join(source, "closed"), 0);
    await removeFolder(source);
    expect(existsSync(source)).toBe(false);
  });

  it("is not left when a link in it leads elsewhere: that stays", async () => {
    const elsewhere = join(scratch, "elsewhere");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "kept"), "kept");
    symlinkSync(elsewhere, join(source, "link"));
    await removeFolder(source);
    expect(readFileSync(join(elsewhere, "kept"), "utf8")).toBe("kept");
    rmSync(elsewhere, { recursive: true });
  });
});
