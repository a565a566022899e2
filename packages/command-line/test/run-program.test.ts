import { describe, expect, it } from "vitest";
import { CommandError, exitCodes, isCommandError } from "../src/index.js";
import { harbour } from "./harbour.js";

describe("a program", () => {
  it.each([0, 1, 2, 3])("ends with the code that its command gives: %d", async (code) => {
    expect(await harbour("end", String(code))).toEqual({ code, stdout: "", stderr: "" });
  });

  it("says in words what a command was ended by, with its lines, and ends with its code", async () => {
    const stderr = "harbour: it is refused\n  first \\u{1b}[2J\n  second\n  the tide\n";
    expect(await harbour("fail", "refused")).toEqual({ code: 3, stdout: "", stderr });
  });

  it("says an error that has a code without its stack, and ends with 1", async () => {
    expect(await harbour("fail", "system")).toMatchObject({ code: 1, stderr: "harbour: no such file\n  the disk\n" });
    expect(await harbour("fail", "word")).toMatchObject({ code: 1, stderr: "harbour: only a word\n" });
  });

  it("shows where a bug is", async () => {
    const { code, stderr } = await harbour("fail", "bug");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^harbour: a bug\n {4}at .*harbour\.mjs/u);
  });

  it.each([
    { name: "an unknown command", args: ["sink"] },
    { name: "an unknown option", args: ["end", "--hard"] },
    { name: "a missing argument", args: ["end"] },
  ])("ends with 2 for $name, and says how to get help", async ({ args }) => {
    const { code, stdout, stderr } = await harbour(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("--help shows how");
  });

  it("prints its version and its help, and ends with 0", async () => {
    expect(await harbour("--version")).toEqual({ code: 0, stdout: "1.2.3\n", stderr: "" });
    expect(await harbour("--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("Ends as it is told.") });
  });

  it("ends only when its output was taken", async () => {
    const { code, stdout } = await harbour("much");
    expect(code).toBe(1);
    expect(stdout.split("\n").at(-2)).toMatch(/^line 19999 /u);
  });
});

describe("what is printed", () => {
  it("cannot act on a terminal, hide or fill the screen, and JSON is the same document", async () => {
    const { stdout } = await harbour("print");
    const [shown, long = "", ...json] = stdout.split("\n");
    expect(shown).toBe("\\u{1b}[2J\\u{202e} end\\u{a}less");
    expect(long).toBe(`${"x".repeat(10_000)}… (20000 characters)`);
    expect(json.join("\n")).toBe('{\n  "text": "\\u009b2J\\u202e\\ud800"\n}\n');
    expect(JSON.parse(json.join("\n"))).toEqual({ text: "\u009b2J\u202e\ud800" });
  });
});

describe("an error that ends a command", () => {
  class MooringError extends CommandError<"LOOSE"> {
    override readonly name = "MooringError";
  }
  it("is known by its form, from any copy, and nothing else is taken for it", () => {
    const loose = new MooringError("LOOSE", exitCodes.failed, "it is loose", { lines: ["tie it"] });
    expect(loose).toMatchObject({ name: "MooringError", code: "LOOSE", exitCode: 1, lines: ["tie it"] });
    expect("cause" in loose).toBe(false);
    const copy = Object.assign(new Error("x"), { code: "LOOSE", exitCode: 1, lines: [] });
    const others = [
      new Error("x"),
      { ...copy },
      Object.assign(new Error("x"), { code: "ENOENT" }),
      Object.assign(new Error("x"), { code: "LOOSE", exitCode: 0.5, lines: [] }),
      Object.assign(new Error("x"), { code: 1, exitCode: 1, lines: [] }),
    ];
    expect([loose, copy, ...others].map(isCommandError)).toEqual([true, true, false, false, false, false, false]);
  });
});
