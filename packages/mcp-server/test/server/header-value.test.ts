import fc from "fast-check";
import { expect, it } from "vitest";
import { readHeaderValue } from "../../src/server/header-value.js";

const encode = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`;
const wellFormed = fc.string({ unit: "grapheme" }).filter((text) => text.isWellFormed());

it("what a client encodes is read back, whatever it is", () => {
  fc.assert(fc.property(wellFormed, (text) => readHeaderValue(encode(text)) === text));
});

it("plain text stands for itself without the blanks around it, unless it looks encoded", () => {
  const plain = fc.string({ unit: fc.constantFrom(..."aZ0 \t=?/+~!") }).filter((text) => !/=\?base64\?/.test(text));
  fc.assert(fc.property(plain, (text) => readHeaderValue(text) === text.replace(/^[ \t]+|[ \t]+$/g, "")));
});

it("of all texts between the marks only the one that encoding gives is read", () => {
  const inner = fc.string({ unit: fc.constantFrom(..."AQgxw+/=-_ ") });
  fc.assert(
    fc.property(inner, (text) => {
      const read = readHeaderValue(`=?base64?${text}?=`);
      if (read !== undefined) expect(encode(read)).toBe(`=?base64?${text}?=`);
    }),
  );
});

it.each([
  ["no padding", "=?base64?SGVsbG8?="],
  ["padding where none belongs", "=?base64?SGVsbG8=?=".replace("8=", "8==")],
  ["bits that are thrown away", "=?base64?SGVsbG9=?="],
  ["another alphabet", "=?base64?-_-_?="],
  ["bytes that are no UTF-8", "=?base64?/w==?="],
  ["a half of a surrogate pair", `=?base64?${Buffer.from([0xed, 0xa0, 0x80]).toString("base64")}?=`],
  ["a character that no header has", "grüße"],
  ["a control character", "a\u0001b"],
  ["a line feed", "a\nb"],
])("%s is malformed", (_name, text) => {
  expect(readHeaderValue(text)).toBeUndefined();
});
