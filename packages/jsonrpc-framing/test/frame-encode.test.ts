import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeHeaderFrame, encodeLine, type JsonArray, type JsonObject } from "../src/index.js";
import { codeOf } from "./thrown.js";

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe("encodeLine", () => {
  it("ends with the only line feed, whatever the value", () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: "binary" }), (json) => {
        const value: JsonObject = { value: JSON.parse(json) };
        const line = encodeLine(value);
        expect(line.indexOf(10)).toBe(line.length - 1);
        expect(JSON.parse(text(line))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it.each([
    { name: "text", frame: '{"a": 1.0}' },
    { name: "bytes", frame: Buffer.from('{"a": 1.0}') },
  ])("sends $name as it is", ({ frame }) => {
    expect(text(encodeLine(frame))).toBe('{"a": 1.0}\n');
  });

  it("leaves the caller's bytes alone", () => {
    const bytes = Buffer.from("{}x").subarray(0, 2);
    const line = encodeLine(bytes);
    line.fill(0);
    expect(text(bytes)).toBe("{}");
  });

  it.each([
    { name: "a line feed in bytes", frame: Buffer.from("{\n}"), code: "FRAME_HAS_NEWLINE" },
    { name: "a line feed in text", frame: "{\n}", code: "FRAME_HAS_NEWLINE" },
    { name: "a line feed at the end", frame: "{}\n", code: "FRAME_HAS_NEWLINE" },
    { name: "a lone surrogate", frame: '{"a":"\ud800"}', code: "FRAME_NOT_UTF8" },
    { name: "a bigint", frame: unchecked({ a: 1n }), code: "FRAME_NOT_JSON" },
    { name: "a cycle", frame: cycle(), code: "FRAME_NOT_JSON" },
    { name: "a value that toJSON takes away", frame: unchecked({ toJSON: () => undefined }), code: "FRAME_NOT_JSON" },
    { name: "nesting that overflows the stack", frame: deep(1_000_000), code: "FRAME_NOT_JSON" },
  ])("refuses $name", ({ frame, code }) => {
    expect(codeOf(() => encodeLine(frame))).toBe(code);
  });

  it.each([encodeLine, encodeHeaderFrame])("refuses a frame over the limit in bytes, not in characters", (encode) => {
    expect(codeOf(() => encode('"12345678"', { maxFrameBytes: 10 }))).toBe("none");
    expect(codeOf(() => encode('"123456é"', { maxFrameBytes: 10 }))).toBe("none");
    expect(codeOf(() => encode('"1234567é"', { maxFrameBytes: 10 }))).toBe("FRAME_TOO_LARGE");
    expect(codeOf(() => encode(["12345678"], { maxFrameBytes: 10 }))).toBe("FRAME_TOO_LARGE");
    expect(codeOf(() => encode(Buffer.alloc(16_777_217)))).toBe("FRAME_TOO_LARGE");
    expect(() => encode("{}", { maxFrameBytes: 0 })).toThrow(RangeError);
  });
});

describe("encodeHeaderFrame", () => {
  it("counts bytes, not characters, and allows line feeds", () => {
    expect(text(encodeHeaderFrame('{"a":\n"é"}'))).toBe('Content-Length: 11\r\n\r\n{"a":\n"é"}');
    expect(text(encodeHeaderFrame({ a: "é" }))).toBe('Content-Length: 10\r\n\r\n{"a":"é"}');
  });
});

/** A value that the types would refuse. */
function unchecked(value: object): JsonObject {
  return Object.assign<JsonObject, object>({}, value);
}

function cycle(): JsonObject {
  const value: { self?: JsonObject } = {};
  return Object.assign(value, { self: value });
}

function deep(levels: number): JsonArray {
  let value: JsonArray = [];
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}
