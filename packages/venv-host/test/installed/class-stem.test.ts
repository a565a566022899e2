import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { partTest } from "../../../../fixtures/parts.js";
// An inner file: the rule is another program's, and is compared with that program's language.
import { classStem } from "../../src/installed/class-stem.js";

describe("the name of a class in file names", () => {
  it.each([
    ["pii.filters.PiiFilter", "pii-filters-PiiFilter"],
    ["  a.B  ", "a-B"],
    ["..", "plugin"],
    ["", "plugin"],
    ["-a_b-", "a_b"],
    ["größe.Ünïcode", "größe-Ünïcode"],
    ["a.b c/d\\e", "a-b-c-d-e"],
  ])("of %j is %j", (name, stem) => {
    expect(classStem(name)).toBe(stem);
  });

  partTest("python3")("keeps exactly the characters that Python calls alphanumeric", () => {
    const program =
      "import sys, unicodedata\n" +
      "for c in map(chr, range(0x110000)):\n" +
      "  if not 0xd800 <= ord(c) < 0xe000 and unicodedata.category(c) != 'Cn' and (c.isalnum() or c in '-_'): print(ord(c))";
    const kept = execFileSync("/usr/bin/python3", ["-c", program], { encoding: "utf8", maxBuffer: 10_000_000 });
    const known = execFileSync(
      "/usr/bin/python3",
      [
        "-c",
        "import unicodedata\nfor n in range(0x110000):\n  if unicodedata.category(chr(n)) not in ('Cn', 'Cs'): print(n)",
      ],
      { encoding: "utf8", maxBuffer: 10_000_000 },
    );
    const ours = known
      .trim()
      .split("\n")
      .filter((code) => classStem(`a${String.fromCodePoint(Number(code))}a`) !== "a-a" || code === "45");
    // As one text: a hundred thousand numbers.
    expect(ours.join("\n")).toBe(kept.trim());
  });
});
