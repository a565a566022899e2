import fc from "fast-check";
import { describe, expect, it } from "vitest";
// The inner file: through scanEnvelope only objects with an envelope reach it.
import { checkGrammar } from "../src/json-grammar.js";
import { damage } from "./damage.js";
import { messageText, valueText } from "./json-text.js";
import { codeOf } from "./thrown.js";

const accepts = (bytes: Buffer): boolean => codeOf(() => checkGrammar(bytes)) === "none";
const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // the only thing that JSON.parse throws
  }
};

describe("the full grammar check", () => {
  it("accepts every text that JSON.parse accepts", () => {
    fc.assert(
      fc.property(fc.oneof(valueText, messageText), (text) => {
        expect(accepts(Buffer.from(text))).toBe(true);
        expect(parses(text)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("refuses every damaged text that JSON.parse refuses, and no other", () => {
    fc.assert(
      fc.property(messageText, damage, (text, harm) => {
        const damaged = harm(Buffer.from(text)).toString(); // damaged UTF-8 becomes U+FFFD: grammar is what is asked here
        expect(accepts(Buffer.from(damaged))).toBe(parses(damaged));
      }),
      { numRuns: 6000 },
    );
  });

  it.each([
    "",
    " ",
    "nul",
    "nulll",
    "-",
    "01",
    "1.",
    ".5",
    "1e",
    "1e+",
    "+1",
    "--1",
    "1 2",
    "[1,]",
    "[,1]",
    "[1 2]",
    "{,}",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    "{1:1}",
    '"',
    '"\\"',
    '"\\u12"',
    '"\\x"',
    '"\t"',
    '"\n"',
    "[}",
    "{]",
    "]",
    "}",
    "[[]",
    "{}{}",
    "\ufeff1",
    "\u00a01",
    "'a'",
    "// a\n1",
    "NaN",
    "Infinity",
    "undefined",
  ])("refuses %j, as JSON.parse does", (text) => {
    expect(parses(text)).toBe(false);
    expect(accepts(Buffer.from(text))).toBe(false);
  });

  it.each([
    "0",
    "-0",
    "-0.0e-0",
    "1E400",
    " 1 ",
    '""',
    '"\\u0000"',
    '"\ud83d\ude00\u2028"',
    "[]",
    "[ ]",
    "{ }",
    '{"":{"":[{}]}}',
    "\r\n\t1",
    '"\u007f"',
  ])("accepts %j, as JSON.parse does", (text) => {
    expect(parses(text)).toBe(true);
    expect(accepts(Buffer.from(text))).toBe(true);
  });

  it("finds each byte that is special at each place of a long string, wherever the string lies in memory", () => {
    const specials = ['"', "\\", "\\n", "\\x", "\n", "\u0000", "\u001f", "\u007f", "\u00ff", "\u0120", "\u2028"];
    for (let shift = 0; shift < 4; shift++) {
      for (let place = 0; place < 80; place++) {
        for (const special of specials) {
          const text = `"${"a!~ ".repeat(20).slice(0, place)}${special}${"[]~b".repeat(11)}"`;
          const memory = Buffer.alloc(shift + Buffer.byteLength(text));
          memory.write(text, shift);
          expect([shift, place, special, accepts(memory.subarray(shift))]).toEqual([
            shift,
            place,
            special,
            parses(text),
          ]);
        }
      }
    }
  });
});
