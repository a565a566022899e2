import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { checkForm, type DocumentProblem, describeProblems, readDocument } from "../src/config/index.js";

const schema = z.strictObject({
  name: z.enum(["a", "b"]).default("a"),
  list: z.array(z.strictObject({ port: z.int().min(1) })).default([]),
  inner: z.strictObject({ on: z.boolean().default(false) }).prefault({}),
});
const read = (text: string) => readDocument(text, (value) => checkForm(schema, value));
const problems = (text: string): readonly DocumentProblem[] => {
  const reading = read(text);
  return reading.ok ? [] : reading.problems;
};

describe("a document", () => {
  it.each(["", "# nothing\n", "{}", "inner: {}\n"])("is the defaults when it says nothing: %j", (text) => {
    expect(read(text)).toEqual({ ok: true, value: { name: "a", list: [], inner: { on: false } } });
  });

  it("has every fault with its line, in their order", () => {
    expect(problems("inner:\n  on: true\n  off: 1\nlist:\n  - port: 1\n  - port: 0\nnme: x\n")).toEqual([
      { line: 3, message: "inner.off is an unknown key" },
      { line: 6, message: expect.stringMatching(/^list\.1\.port: /u) },
      { line: 7, message: "nme is an unknown key" },
    ]);
  });

  it.each([
    ["a key twice", "name: a\nname: b", 2],
    ["two documents", "name: a\n---\nname: a", 2],
    ["no YAML", "name: [a", 1],
    ["an unknown tag", "name: !!js/function 'x'", 1],
    ["YAML 1.1's yes", "inner:\n  on: yes", 2],
    ["a list", "- name", 1],
    ["an item that is no mapping", "list:\n  - port: 1\n  - x", 3],
    ["aliases that grow without end", bomb(), 1],
  ])("is refused with the line for %s", (_name, text, line) => {
    expect(problems(text)[0]?.line).toBe(line);
  });

  it("shows a fault of meaning at the nearest place above that exists", () => {
    const check = () => ({ ok: false, faults: [{ path: ["inner", "gone", 3], message: "missing" }] }) as const;
    expect(readDocument("name: a\ninner:\n  on: true\n", check)).toEqual({
      ok: false,
      problems: [{ line: 2, message: "missing" }],
    });
  });

  it("gives a report for any text", () => {
    const marks = [
      "name",
      "list",
      ": ",
      "\n",
      "  ",
      "- ",
      "{",
      "}",
      "[",
      "*a",
      "&a ",
      "!!",
      "<<",
      "|",
      "'",
      "#",
      "---\n",
    ];
    const piece = fc.oneof(fc.constantFrom(...marks), fc.string({ maxLength: 3, unit: "binary" }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const reading = read(pieces.join(""));
        expect(reading.ok || reading.problems.every(({ line }) => line >= 1)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("has its problems in words", () => {
    const one = [{ line: 2, message: "x is an unknown key" }];
    expect(describeProblems("the catalog", "/c", one)).toEqual({
      message: "the catalog has a problem",
      lines: ["/c:2  x is an unknown key"],
    });
    expect(describeProblems("the catalog", "/c", [...one, ...one]).message).toBe("the catalog has 2 problems");
  });
});

function bomb(): string {
  const levels = Array.from({ length: 12 }, (_, at) => `l${at + 1}: &l${at + 1} [${`*l${at}, `.repeat(9)}*l${at}]`);
  return ["l0: &l0 [x, x]", ...levels].join("\n");
}
