import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { processorMs } from "../../../fixtures/processor-time.js";
import { isAttestationError } from "../src/index.js";
import { pathOfText } from "../src/measure/byte-path.js";
import { isIgnored, matches, readGlobs } from "../src/measure/glob.js";
import { runs } from "./support/soak.js";

const hits = (glob: string, path: string): boolean => matches(readGlobs([glob]), pathOfText(path));

/** A second implementation, by the definition: slow, and easy to see right. */
function byDefinition([want, ...rest]: readonly string[], [name, ...below]: readonly string[]): boolean {
  if (want === undefined) return name === undefined;
  if (want === "**" && byDefinition(rest, name === undefined ? [] : [name, ...below])) return true;
  if (name === undefined) return false;
  if (want === "**") return byDefinition([want, ...rest], below);
  const expression = want.replace(/[.+]/g, "\\$&").replaceAll("*", ".*");
  return new RegExp(`^${expression}$`, "s").test(name) && byDefinition(rest, below);
}

describe("ignore globs", () => {
  it.each([
    { glob: "data", path: "data", hit: true },
    { glob: "data", path: "lib/data", hit: false },
    { glob: "data", path: "data/x", hit: false },
    { glob: "data/**", path: "data", hit: true },
    { glob: "data/**", path: "data/x/y", hit: true },
    { glob: "**/data", path: "data", hit: true },
    { glob: "**/data", path: "a/b/data", hit: true },
    { glob: "a/**/z", path: "a/z", hit: true },
    { glob: "a/**/z", path: "a/b/c/z", hit: true },
    { glob: "a/**/z", path: "b/z", hit: false },
    { glob: "*.log", path: "x.log", hit: true },
    { glob: "*.log", path: "a/x.log", hit: false },
    { glob: "*.log", path: ".log", hit: true },
    { glob: "a*b*c", path: "aXbYbZc", hit: true },
    { glob: "a*b*c", path: "aXcYb", hit: false },
    { glob: "**", path: "anything/at/all", hit: true },
    { glob: "ü*", path: "über", hit: true },
    { glob: "a.b", path: "axb", hit: false },
  ])("$glob on $path: $hit", ({ glob, path, hit }) => {
    expect(hits(glob, path)).toBe(hit);
  });

  it.each([
    "",
    "/a",
    "a/",
    "a//b",
    "./a",
    "a/../b",
    "a?",
    "[ab]",
    "{a,b}",
    "!a",
    "a\\b",
    "a**",
    "**a",
    "a\0",
    "x".repeat(257),
  ])("%j is refused, since it could be read in more than one way", (glob) => {
    expect(() => readGlobs([glob])).toThrow(expect.objectContaining({ code: "IGNORE_INVALID" }));
  });

  it("more than 64 globs are refused", () => {
    const globs = Array.from({ length: 65 }, (_, index) => `g${index}`);
    expect(() => readGlobs(globs)).toThrow(expect.objectContaining({ code: "IGNORE_INVALID" }));
  });

  it("order and repetition make no difference", () => {
    const texts = readGlobs(["b", "a", "b", "ä", "Z"]).map((glob) => glob.text);
    expect(texts).toEqual(["Z", "a", "b", "ä"]);
  });

  it("what lies below an ignored folder is ignored", () => {
    expect(isIgnored(readGlobs(["data"]), pathOfText("data/a/b"))).toBe(true);
    expect(isIgnored(readGlobs(["data"]), pathOfText("dat/a/b"))).toBe(false);
  });

  const segment = fc.oneof(
    fc.constant("**"),
    fc.stringMatching(/^[ab*.]{1,4}$/).filter((text) => !text.includes("**")),
  );
  const glob = fc.array(segment, { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"));
  const path = fc
    .array(fc.stringMatching(/^[ab.]{1,4}$/), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join("/"));

  it("agrees with its definition on every path", () => {
    fc.assert(
      fc.property(
        glob.filter((text) => text.split("/").every((part) => part !== "." && part !== "..")),
        path,
        (pattern, name) => {
          expect(hits(pattern, name)).toBe(byDefinition(pattern.split("/"), name.split("/")));
        },
      ),
      { numRuns: runs(20_000) },
    );
  });

  it("ends quickly on patterns that make a backtracking matcher hang", () => {
    const pattern = `${"**/a*a*a*a*/".repeat(12)}b`;
    const name = `${`${"a".repeat(40)}/`.repeat(60)}c`;
    expect(processorMs(() => expect(hits(pattern, name)).toBe(false))).toBeLessThan(2_000);
  });

  it("never throws anything but IGNORE_INVALID, whatever the text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 20 }),
        fc.string({ unit: "binary", maxLength: 20 }),
        (text, name) => {
          try {
            hits(text, name);
          } catch (error) {
            expect(isAttestationError(error) && error.code === "IGNORE_INVALID").toBe(true);
          }
        },
      ),
      { numRuns: runs(20_000) },
    );
  });
});
