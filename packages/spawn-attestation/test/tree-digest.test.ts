import { hash } from "node:crypto";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../fixtures/parts.js";
import { testFolder } from "./support/folder.js";
import { runs } from "./support/soak.js";
import { recompute, treeOf } from "./support/tree.js";

const withPython = partTest("python3");
const sha = (text: string | Buffer): string => hash("sha256", text, "hex");

describe("the tree-v1 digest", () => {
  it("is SHA-256 over one record an entry, worked out by hand", () => {
    const folder = testFolder({
      "b.txt": "two",
      "a/run": { program: "one" },
      empty: "folder/",
      link: { link: "a/run" },
    });
    const manifest = [
      "tree-v1\0",
      "d - a\0",
      `x ${sha("one")} a/run\0`,
      `f ${sha("two")} b.txt\0`,
      "d - empty\0",
      `l ${sha("a/run")} link\0`,
    ].join("");
    expect(treeOf(folder)).toMatchObject({ hex: sha(manifest), files: 2, bytes: 6 });
  });

  it("of an empty folder is the digest of its heading alone", () => {
    expect(treeOf(testFolder()).hex).toBe(sha("tree-v1\0"));
  });

  it("orders paths by their bytes, not folder by folder", () => {
    const folder = testFolder({ "a/b": "1", "a-b": "2", "a.b": "3", a0: "4" });
    const order = ["a-b", "a.b", "a/b", "a0"];
    const manifest = `tree-v1\0d - a\0${order.map((path, index) => `f ${sha(["2", "3", "1", "4"][index] ?? "")} ${path}\0`).join("")}`;
    expect(treeOf(folder).hex).toBe(sha(manifest));
  });

  it("names the ignore globs, so that leaving out more is another digest even where nothing matches", () => {
    const folder = testFolder({ a: "1" });
    expect(treeOf(folder, ["none"]).hex).toBe(sha(`tree-v1\0ignore none\0f ${sha("1")} a\0`));
    expect(treeOf(folder, ["none"]).hex).not.toBe(treeOf(folder).hex);
  });

  it.each([
    { change: "a byte of a file", act: (at: string) => writeFileSync(join(at, "d/f"), "y") },
    { change: "an exec bit", act: (at: string) => chmodSync(join(at, "d/f"), 0o755) },
    { change: "a new file", act: (at: string) => writeFileSync(join(at, "n"), "") },
    { change: "a new empty folder", act: (at: string) => mkdirSync(join(at, "d/n")) },
    { change: "a removed file", act: (at: string) => rmSync(join(at, "d/f")) },
    {
      change: "a file that became a link to its own bytes",
      act: (at: string) => {
        rmSync(join(at, "d/f"));
        symlinkSync("g", join(at, "d/f"));
      },
    },
  ])("changes with $change", ({ act }) => {
    const folder = testFolder({ "d/f": "x", "d/g": "x" });
    const before = treeOf(folder).hex;
    act(folder);
    expect(treeOf(folder).hex).not.toBe(before);
  });

  it("does not change with what is ignored", () => {
    const folder = testFolder({ "a.js": "x", "data/x": "1" });
    const before = treeOf(folder, ["data"]).hex;
    writeFileSync(join(folder, "data/x"), "2");
    writeFileSync(join(folder, "data/y"), "2");
    expect(treeOf(folder, ["data"]).hex).toBe(before);
    rmSync(join(folder, "data"), { recursive: true });
    expect(treeOf(folder, ["data"]).hex).toBe(before);
  });

  it("does not depend on where the folder lies or how large the reading buffer is", () => {
    const contents = { "a/b": "x".repeat(70_000), c: "" };
    const digests = [treeOf(testFolder(contents)), treeOf(testFolder(contents), [], { buffer: Buffer.alloc(16) })];
    expect(new Set(digests.map(({ hex }) => hex)).size).toBe(1);
  });

  withPython("is what the ten-line script computes, for names of any bytes", () => {
    const folder = testFolder({
      "plain.js": "1",
      "line\nbreak": "2",
      "späce é": "3",
      "e/m/p/t/y": "folder/",
      "\u{1f600}": "4",
    });
    const raw = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe, 0x0a, 0x80])]);
    writeFileSync(raw, "not UTF-8");
    mkdirSync(Buffer.concat([raw, Buffer.from("-folder")]));
    symlinkSync(Buffer.from([0xff, 0xfe, 0x0a, 0x80]), join(folder, "to-raw"));
    symlinkSync("nowhere/yet", join(folder, "dangling"));
    chmodSync(join(folder, "plain.js"), 0o711);
    expect(`tree-v1:${treeOf(folder).hex}`).toBe(recompute(folder));
    expect(`tree-v1:${treeOf(folder, ["**/t", "*break", "nothing"]).hex}`).toBe(
      recompute(folder, ["nothing", "**/t", "*break", "**/t"]),
    );
  });

  withPython(
    "is what the ten-line script computes, for folders made at random",
    () => {
      const name = fc.stringMatching(/^[abü.\n -]{1,5}$/).filter((text) => text !== "." && text !== "..");
      const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
      const glob = fc.constantFrom("**/a*", "a/**", "*", "**/ü", "b", "**/.*", "a/*/b");
      fc.assert(
        fc.property(fc.array(path, { maxLength: 12 }), fc.array(glob, { maxLength: 3 }), (paths, globs) => {
          const folder = testFolder();
          for (const [index, each] of paths.entries()) putIfFree(join(folder, each), String(index), index % 3 === 0);
          expect(`tree-v1:${treeOf(folder, globs).hex}`).toBe(recompute(folder, globs));
        }),
        { numRuns: runs(400) },
      );
      // Two Python processes for each folder.
    },
    600_000,
  );
});

/** A name may be taken by a file or a folder already: then this path is not made. */
function putIfFree(path: string, text: string, isExecutable: boolean): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: isExecutable ? 0o755 : 0o644 });
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^(?:EEXIST|EISDIR|ENOTDIR)$/) });
  }
}
