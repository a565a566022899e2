import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readMember, readScalar, readString, type Span, spanType, splitArray, splitObject } from "../src/index.js";
import { valueText } from "./json-text.js";
import { codeOf } from "./thrown.js";

const frameOf = (text: string): Buffer => Buffer.from(`, ${text} ,`); // a value never stands alone in a frame
const spanOf = (text: string): Span => ({ start: 2, end: 2 + Buffer.byteLength(text) });
const parsed = (frame: Uint8Array, span: Span): unknown =>
  JSON.parse(Buffer.from(frame).toString("utf8", span.start, span.end));

describe("readMember", () => {
  const text = '{"a":{"b":1,"c":[{"b":2}],"\\u0062":{"é":"x"}},"b":9,"a.b":3,"":{"":4},"__proto__":{"x":5}}';
  it.each([
    { path: [], value: JSON.parse(text) },
    { path: ["b"], value: 9 },
    { path: ["a", "b"], value: { é: "x" } },
    { path: ["a", "b", "é"], value: "x" },
    { path: ["a.b"], value: 3 },
    { path: ["", ""], value: 4 },
    { path: ["__proto__", "x"], value: 5 },
    { path: ["x"], value: undefined },
    { path: ["a", "c", "b"], value: undefined },
    { path: ["b", "b"], value: undefined },
    { path: ["toString"], value: undefined },
  ])("finds $path", ({ path, value }) => {
    const frame = frameOf(text);
    const span = readMember(frame, spanOf(text), path);
    expect(span && parsed(frame, span)).toEqual(value);
  });

  it("refuses an object that is malformed at its own level", () => {
    for (const bad of ['{"a":1 "b":2}', '{"a" 1}', '{"a":1', '{"a":tru}', '{"a":1,}', "{a:1}", '{"\\q":1}']) {
      expect(codeOf(() => readMember(frameOf(bad), spanOf(bad), ["z"]))).toBe("FRAME_NOT_JSON");
    }
  });

  it("never looks beyond its span", () => {
    expect(codeOf(() => splitArray(Buffer.from("[]"), { start: 0, end: 1 }))).toBe("FRAME_NOT_JSON");
    const frame = Buffer.from('{"a":"x","b":1}');
    for (let end = 1; end < frame.length; end++) {
      expect(codeOf(() => readMember(frame, { start: 0, end }, ["b"]))).toBe("FRAME_NOT_JSON");
    }
  });
});

describe("splitArray and splitObject", () => {
  it("give the spans of what JSON.parse gives, in order", () => {
    fc.assert(
      fc.property(valueText, (text) => {
        const frame = frameOf(text);
        const span = spanOf(text);
        const value: unknown = JSON.parse(text);
        const type = spanType(frame, span);
        if (Array.isArray(value)) {
          expect(type).toBe("array");
          expect(splitArray(frame, span).map((item) => parsed(frame, item))).toEqual(value);
        } else if (typeof value === "object" && value !== null) {
          expect(type).toBe("object");
          const members = splitObject(frame, span);
          const last = new Map(members.map((member) => [member.key, parsed(frame, member.value)]));
          expect(last).toEqual(new Map(Object.entries(value)));
          for (const member of members) expect(parsed(frame, member.keySpan)).toBe(member.key);
        } else {
          expect(type).toBe(value === null ? "null" : typeof value);
          expect(readScalar(frame, span)).toBe(value);
          expect(readString(frame, span)).toBe(typeof value === "string" ? value : undefined);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it("lists equal keys as often as they occur", () => {
    const text = '{"a":1,"b":2,"\\u0061":3}';
    expect(splitObject(frameOf(text), spanOf(text)).map((member) => member.key)).toEqual(["a", "b", "a"]);
  });

  it.each([
    { name: "an object for an array", split: splitArray, text: "{}" },
    { name: "an array for an object", split: splitObject, text: "[]" },
    { name: "a number", split: splitArray, text: "1" },
    { name: "an array without end", split: splitArray, text: "[1,2" },
    { name: "a trailing comma", split: splitArray, text: "[1,]" },
    { name: "a missing comma", split: splitArray, text: "[1 2]" },
    { name: "an object without end", split: splitObject, text: '{"a":1' },
  ])("refuse $name", ({ split, text }) => {
    expect(codeOf(() => split(frameOf(text), spanOf(text)))).toBe("FRAME_NOT_JSON");
  });

  it("stop at their limit, since a span takes more memory than the item it names", () => {
    const items = `[${"0,".repeat(99)}0]`;
    const members = `{${'"a":0,'.repeat(99)}"a":0}`;
    expect(codeOf(() => splitArray(frameOf(items), spanOf(items), { maxItems: 100 }))).toBe("none");
    expect(codeOf(() => splitArray(frameOf(items), spanOf(items), { maxItems: 99 }))).toBe("TOO_MANY_ITEMS");
    expect(codeOf(() => splitObject(frameOf(members), spanOf(members), { maxItems: 100 }))).toBe("none");
    expect(codeOf(() => splitObject(frameOf(members), spanOf(members), { maxItems: 99 }))).toBe("TOO_MANY_ITEMS");
    expect(() => splitArray(frameOf("[]"), spanOf("[]"), { maxItems: 0 })).toThrow(RangeError);
  });
});

describe("readScalar and readString", () => {
  it.each(['"\\q"', '"a\tb"', '"a', '"a"b"', "tru", "01", "-", ""])("refuse %j", (text) => {
    expect(codeOf(() => readScalar(frameOf(text), spanOf(text)))).toBe("FRAME_NOT_JSON");
  });

  it("give undefined for what they do not read", () => {
    expect(readScalar(frameOf("[1]"), spanOf("[1]"))).toBeUndefined();
    expect(readScalar(frameOf("{}"), spanOf("{}"))).toBeUndefined();
    expect(readString(frameOf("1"), spanOf("1"))).toBeUndefined();
  });
});
