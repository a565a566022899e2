/** Of an inner file: its properties hold for all JSON, which a session's few exchanges would not show. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readRewritable } from "../src/json-rewrite.js";

const bytes = (text: string): Uint8Array => Buffer.from(text);
/** Objects as JSON has them, with odd names. */
const objects = fc.dictionary(fc.oneof(fc.string({ unit: "grapheme" }), fc.constant("__proto__")), fc.jsonValue());

describe("a JSON object that may be changed", () => {
  it("is seen as JSON.parse sees it, and is written with the same meaning", () => {
    fc.assert(
      fc.property(objects, (object) => {
        const text = JSON.stringify(object);
        const read = readRewritable(bytes(text));
        expect(JSON.stringify(read?.value)).toBe(JSON.stringify(JSON.parse(text)));
        expect(read?.rewrite(JSON.parse(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it("is written with what another object says, whatever it was", () => {
    fc.assert(
      fc.property(objects, objects, (from, to) => {
        const read = readRewritable(bytes(JSON.stringify(from)));
        expect(JSON.parse(read?.rewrite(JSON.parse(JSON.stringify(to))) ?? "")).toEqual(JSON.parse(JSON.stringify(to)));
      }),
    );
  });

  it.each([
    { name: "long integers", number: "12345678901234567890" },
    { name: "fractions of zero", number: "1.0" },
    { name: "exponents", number: "1e3" },
    { name: "negative zero", number: "-0" },
  ])("keeps $name as they were written where they stay", ({ number }) => {
    const read = readRewritable(bytes(`{"a":[${number}],"b":"x","c":${number}}`));
    expect(read?.rewrite({ ...read.value, b: "y" })).toBe(`{"a":[${number}],"b":"y","c":${number}}`);
  });

  it.each([
    { name: "a member twice", text: '{"a":{"b":1,"b":1}}' },
    { name: "a number that nothing holds", text: '{"a":1e999}' },
    { name: "no JSON", text: "{a:1}" },
    { name: "values without end", text: `{"a":[${"0,".repeat(300_000)}0]}` },
    { name: "nesting without end", text: `${'{"a":'.repeat(200)}1${"}".repeat(200)}` },
  ])("is refused when it has $name", ({ text }) => {
    expect(() => readRewritable(bytes(text))).toThrow(expect.objectContaining({ code: "DEFINITION_INVALID" }));
  });

  it("is none when it is another value", () => {
    expect(readRewritable(bytes("[1]"))).toBeUndefined();
  });
});
