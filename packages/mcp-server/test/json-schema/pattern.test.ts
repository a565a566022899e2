import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../../fixtures/counts.js";
import { compileSchema, SchemaError, type SchemaLimits } from "../../src/json-schema/index.js";
import { processorMs } from "./cpu.js";

const matches = (pattern: string, text: string, limits?: SchemaLimits): boolean =>
  compileSchema({ pattern }, limits).validate(text).valid;

function refusal(pattern: string): string {
  try {
    compileSchema({ pattern });
  } catch (error) {
    if (error instanceof SchemaError) return `${error.code} ${error.message}`;
    throw error;
  }
  return "compiled";
}

/** Patterns of tools as they are met: those that zod writes for its formats, and ones by hand. */
const ordinary = [
  {
    pattern:
      "^(?:[A-Za-z0-9_'+\\-]+\\.)*[A-Za-z0-9_'+\\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    good: "a.b@x-y.org",
    bad: "a..b@x",
  },
  {
    pattern: "^(?!\\.)(?!.*\\.\\.)([a-z0-9_'+\\-\\.]*)[a-z0-9_+-]@([a-z0-9][a-z0-9\\-]*\\.)+[a-z]{2,}$",
    good: "a.b@x.org",
    bad: "a..b@x.org",
  },
  {
    pattern: "^P(?:(\\d+W)|(?!.*W)(?=\\d|T\\d)(\\d+Y)?(\\d+M)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+([.,]\\d+)?S)?)?)$",
    good: "P3DT4H",
    bad: "P3DT",
  },
  { pattern: "^[\\s\\S]{0,3}(?<=b)(?<!ab)c$", good: "bbc", bad: "abc" },
  { pattern: "^(?=.*[A-Z])(?=.*\\d).{8,}$", good: "Passw0rd", bad: "password" },
  { pattern: "\\bcat\\b", good: "a cat.", bad: "concat" },
  { pattern: "\\Bcat", good: "concat", bad: "cat" },
  { pattern: "^\\p{Lu}\\P{Lu}*$", good: "Ümlaut", bad: "ümlaut" },
  { pattern: "^[^\\]\\\\]+$", good: "a[b", bad: "a]b" },
  { pattern: "^\\u{1F600}\\uD83D\\uDE00\\x41\\cJ\\/$", good: "😀😀A\n/", bad: "😀😀A\n" },
  { pattern: "^.$", good: "😀", bad: "\n" },
  { pattern: "^(?<year>\\d{4})-(?:0[1-9]|1[0-2])$", good: "2026-11", bad: "2026-13" },
  { pattern: "^(?:|a|ab)??c{2,3}?$", good: "abccc", bad: "abcccc" },
  { pattern: `^a{${"0".repeat(80)}2}$`, good: "aa", bad: "a" },
  { pattern: "", good: "", bad: undefined },
];

describe("patterns", () => {
  it.each(ordinary)("$pattern is answered as ECMAScript does", ({ pattern, good, bad }) => {
    expect(new RegExp(pattern, "u").test(good)).toBe(true);
    expect(matches(pattern, good)).toBe(true);
    if (bad !== undefined) expect([new RegExp(pattern, "u").test(bad), matches(pattern, bad)]).toEqual([false, false]);
  });

  it("are answered as ECMAScript does, whatever they are made of", () => {
    const atom = fc.constantFrom(
      "a",
      "b",
      ".",
      "\\d",
      "\\w",
      "\\W",
      "[ab]",
      "[^a]",
      "\\s",
      "é",
      "😀",
      "\\p{L}",
      "^",
      "$",
      "\\b",
      "\\B",
      "(?:)",
      "[]",
    );
    const { tree } = fc.letrec<{ tree: string }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4, depthSize: "small" },
        atom,
        fc.tuple(tie("tree"), tie("tree")).map(([a, b]) => a + b),
        fc.tuple(tie("tree"), tie("tree")).map(([a, b]) => `(?:${a}|${b})`),
        fc
          .tuple(tie("tree"), fc.constantFrom("*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "{0}"))
          .map(([a, q]) => `(${a})${q}`),
        fc.tuple(fc.constantFrom("?=", "?!", "?<=", "?<!"), tie("tree")).map(([look, a]) => `(${look}${a})`),
      ),
    }));
    const text = fc
      .array(fc.constantFrom("a", "b", "1", " ", "\n", "é", "😀", "_", "\ud83d"), { maxLength: 7 })
      .map((parts) => parts.join(""));
    // V8 looks for empty matches within surrogate pairs too, against ECMA-262 § 22.2.7.2.
    const subjectFor = (pattern: string, subject: string): string =>
      /\(\?[<=!]|\\b/i.test(pattern) ? subject.replaceAll("😀", "é") : subject;
    const numRuns = scaledCount("patterns against RegExp", 40_000);
    fc.assert(
      fc.property(tree, text, (pattern, drawn) => {
        const subject = subjectFor(pattern, drawn);
        return matches(pattern, subject) === new RegExp(pattern, "u").test(subject);
      }),
      { numRuns },
    );
  });

  it.each([
    { pattern: "(a+)+$" },
    { pattern: "^(a|a)*$" },
    { pattern: "^(a|aa)+$" },
    { pattern: "(.*a){20}$" },
    { pattern: "^(([a-z])+.)+[A-Z]([a-z])+$" },
    { pattern: "(a?){60}a{60}$" },
    { pattern: "^(?=(a+)+$)a" },
    { pattern: "(?<=(a|aa)+)b" },
    { pattern: "(?:(?:a*)*)*b" },
    { pattern: "^(?:.*.*.*.*)*=$" },
  ])("$pattern, which hangs a backtracking engine, ends within the budget of steps", ({ pattern }) => {
    const subject = `${"a".repeat(100_000)}!`;
    let valid = true;
    // A second and more is the machine's share; an engine that backtracks would need longer than the universe lasts.
    expect(processorMs(() => (valid = matches(pattern, subject)))).toBeLessThan(2_000);
    expect(valid).toBe(false);
  });

  it("take steps in proportion to the text", () => {
    const { validate } = compileSchema({ pattern: "^(a+)+$" }, { maxSteps: 30_000 });
    expect(validate("a".repeat(1_000))).toEqual({ valid: true });
    expect(validate("a".repeat(10_000))).toMatchObject({ valid: false, exceeded: "maxSteps" });
  });

  it.each([
    { pattern: "(a)\\1", says: "back-reference" },
    { pattern: "(?<n>a)\\k<n>", says: "back-reference" },
    { pattern: "a{100000}", says: "maxPatternStates" },
    { pattern: "((((a{100}){100}){100}){100})", says: "maxPatternStates" },
    { pattern: "(){1000000000}", says: "maxPatternStates" },
    { pattern: `${"(".repeat(101)}${")".repeat(101)}`, says: "nested deeper than 100" },
    { pattern: "[\\p{L}]".repeat(250), says: "compiled" },
    { pattern: Array.from({ length: 200 }, (_, index) => `[\\p{L}\\p{N}${index}]`).join(""), says: "maxPattern" },
    { pattern: `a{${"9".repeat(400)}}`, says: "SCHEMA_TOO_LARGE" },
    { pattern: `^a{${"0".repeat(80)}2}$`, says: "compiled" },
    { pattern: "[z-a]", says: "SCHEMA_PATTERN" },
    { pattern: "\\-", says: "SCHEMA_PATTERN" },
    { pattern: "(?a)", says: "SCHEMA_PATTERN" },
  ])("$pattern: $says", ({ pattern, says }) => {
    let told = "";
    expect(processorMs(() => (told = refusal(pattern)))).toBeLessThan(1_000);
    expect(told).toContain(says);
  });

  it("refuses modifiers, where the platform knows them or not", () => {
    expect(refusal("(?i:a)")).toContain("SCHEMA_PATTERN");
  });

  it("make ready for many classes of Unicode properties in little time", () => {
    const allOf = Array.from({ length: 300 }, (_, index) => ({
      pattern: `[\\p{L}${String.fromCodePoint(0x4e00 + index)}]`,
    }));
    expect(processorMs(() => compileSchema({ allOf }).validate("ж"))).toBeLessThan(2_000);
  });
});
