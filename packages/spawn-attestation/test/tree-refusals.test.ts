import { execFileSync } from "node:child_process";
import { rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { testFolder } from "./support/folder.js";
import { asNobody } from "./support/nobody.js";
import { treeOf } from "./support/tree.js";

const refused = (code: string): unknown => expect.objectContaining({ name: "AttestationError", code });

describe("symlinks in a tree", () => {
  it.each([
    { name: "to a sibling", contents: { "a/f": "", "a/l": { link: "f" } } },
    { name: "up and down again", contents: { "a/l": { link: "../b/f" }, "b/f": "" } },
    { name: "to the tree itself", contents: { l: { link: "." } } },
    { name: "through another link", contents: { "d/f": "", l: { link: "m/f" }, m: { link: "d" } } },
    { name: "to nothing, inside", contents: { l: { link: "not/there" } } },
  ])("$name are fine", ({ contents }) => {
    expect(treeOf(testFolder(contents)).hex).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([
    { name: "an absolute one", contents: { l: { link: "/etc" } } },
    { name: "one that climbs out", contents: { "a/l": { link: "../../x" } } },
    { name: "one that climbs out and comes back", contents: { "a/l": { link: "../../TREE/f" } } },
    {
      name: "one that climbs out behind another link",
      contents: { "a/b/c/up": { link: "../../.." }, "a/b/c/l": { link: "up/../x" } },
    },
    { name: "one that would climb out if its folder existed", contents: { l: { link: "not/../../x" } } },
  ])("$name is refused", ({ contents }) => {
    expect(() => treeOf(testFolder(contents))).toThrow(refused("TREE_LINK_ESCAPES"));
  });

  it("that lead to what is ignored are refused, since that would run unmeasured", () => {
    const folder = testFolder({ "data/x": "", l: { link: "data/x" } });
    expect(() => treeOf(folder, ["data"])).toThrow(refused("TREE_LINK_ESCAPES"));
    expect(treeOf(folder, ["data", "l"]).files).toBe(0);
  });

  it.each([
    { name: "to itself", contents: { l: { link: "l" } } },
    { name: "in a circle of two", contents: { l: { link: "m" }, m: { link: "l" } } },
    { name: "into itself, deeper each time", contents: { l: { link: "l/x" } } },
  ])("$name are refused as loops", ({ contents }) => {
    expect(() => treeOf(testFolder(contents))).toThrow(refused("TREE_LINK_LOOP"));
  });
});

describe("what a tree cannot hold", () => {
  it("a FIFO is refused at once, without waiting for a writer", () => {
    const folder = testFolder();
    execFileSync("mkfifo", [join(folder, "pipe")]);
    expect(() => treeOf(folder)).toThrow(refused("TREE_SPECIAL_FILE"));
    expect(treeOf(folder, ["pipe"]).files).toBe(0);
  });

  it("a socket is refused", async () => {
    const folder = testFolder();
    const server = createServer().listen(join(folder, "s"));
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => void server.close());
    expect(() => treeOf(folder)).toThrow(refused("TREE_SPECIAL_FILE"));
  });

  it("more entries than the limit are refused before they are read", () => {
    const folder = testFolder({ a: "", b: "", c: "" });
    expect(() => treeOf(folder, [], { maxEntries: 3 })).toThrow(refused("TREE_TOO_LARGE"));
    expect(treeOf(folder, [], { maxEntries: 4 }).files).toBe(3);
  });

  it("more bytes than the limit are refused", () => {
    const folder = testFolder({ a: "12345", b: "12345" });
    expect(() => treeOf(folder, [], { maxTreeBytes: 9 })).toThrow(refused("TREE_TOO_LARGE"));
    expect(() => treeOf(folder, [], { maxFileBytes: 4 })).toThrow(refused("FILE_TOO_LARGE"));
    expect(treeOf(folder, [], { maxTreeBytes: 10, maxFileBytes: 5 }).bytes).toBe(10);
  });

  it("a folder that is not there is a change, not a crash", () => {
    expect(() => treeOf("/nonexistent-folder")).toThrow(refused("TREE_CHANGED"));
  });

  partTest("ordinary-user")("a file or folder that may not be read is named with the system's reason", () => {
    const folder = testFolder({ "a/secret": "" });
    execFileSync("chmod", ["755", folder]);
    execFileSync("chmod", ["000", join(folder, "a/secret")]);
    asNobody(() =>
      expect(() => treeOf(folder)).toThrow(expect.objectContaining({ code: "UNREADABLE", osCode: "EACCES" })),
    );
    execFileSync("chmod", ["000", join(folder, "a")]);
    asNobody(() =>
      expect(() => treeOf(folder)).toThrow(expect.objectContaining({ code: "UNREADABLE", osCode: "EACCES" })),
    );
  });
});

describe("a tree that changes while it is read", () => {
  it.each([
    { name: "a file that grows", act: (at: string) => writeFileSync(join(at, "z"), "longer than before") },
    { name: "a file of the same size with other bytes", act: (at: string) => writeFileSync(join(at, "z"), "2") },
    { name: "a file that disappears", act: (at: string) => rmSync(join(at, "z")) },
    {
      name: "a file that becomes a symlink",
      act: (at: string) => {
        rmSync(join(at, "z"));
        symlinkSync("/etc/passwd", join(at, "z"));
      },
    },
    {
      name: "a file that becomes a FIFO",
      act: (at: string) => execFileSync("sh", ["-c", 'rm "$1" && mkfifo "$1"', "sh", join(at, "z")]),
    },
  ])("$name is refused", ({ act }) => {
    const folder = testFolder({ a: "1", z: "1" });
    utimesSync(join(folder, "z"), 0, 0);
    let done = false;
    const onEntry = (): undefined => {
      if (!done) act(folder);
      done = true;
      return undefined;
    };
    expect(() => treeOf(folder, [], { onEntry })).toThrow(
      expect.objectContaining({
        code: expect.stringMatching(/^(?:TREE_CHANGED|FILE_CHANGED|TARGET_NOT_A_FILE|LINK_LOOP)$/),
      }),
    );
  });
});
