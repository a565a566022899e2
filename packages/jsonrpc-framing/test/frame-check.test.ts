import { TextDecoder } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkFrame, createLineDecoder } from "../src/index.js";

const check = (bytes: Uint8Array, offset = 0): ReturnType<typeof checkFrame> => checkFrame({ bytes, offset });

describe("checkFrame", () => {
  it.each(["{}", "[]", ' {"a":1}\r', "{tru}", "[x]", '{"a":"é漢😀"}'])("lets %j through", (text) => {
    expect(check(Buffer.from(text))).toBeUndefined();
  });

  it.each(["hello", "", " ", "1", '"{}"', "{", "}", "{]", "[}", "Listening on {}", "{} done", "null", "Traceback:"])(
    "takes %j for no message",
    (text) => {
      expect(check(Buffer.from(text), 7)).toMatchObject({ code: "FRAME_NOT_JSON", offset: 7, wireCode: -32700 });
    },
  );

  it("tells a byte order mark", () => {
    expect(check(Buffer.from("\ufeff{}"), 9)).toMatchObject({ code: "FRAME_HAS_BOM", offset: 9, wireCode: -32700 });
    expect(check(Buffer.from('{"\ufeff":1}'))).toBeUndefined();
  });

  it.each([
    { name: "a lone continuation", bytes: [0x7b, 0x80, 0x7d], at: 1 },
    { name: "an overlong slash", bytes: [0x7b, 0xc0, 0xaf, 0x7d], at: 1 },
    { name: "an overlong form of three bytes", bytes: [0x7b, 0xe0, 0x9f, 0xbf, 0x7d], at: 1 },
    { name: "an overlong form of four bytes", bytes: [0x7b, 0xf0, 0x8f, 0xbf, 0xbf, 0x7d], at: 1 },
    { name: "a surrogate", bytes: [0x7b, 0xed, 0xa0, 0x80, 0x7d], at: 1 },
    { name: "a character above U+10FFFF", bytes: [0x7b, 0xf4, 0x90, 0x80, 0x80, 0x7d], at: 1 },
    { name: "a lead of five bytes", bytes: [0x7b, 0xf8, 0x88, 0x80, 0x80, 0x80, 0x7d], at: 1 },
    { name: "a cut character before the end", bytes: [0x7b, 0xe2, 0x82, 0x7d], at: 1 },
    { name: "a cut character at the end", bytes: [0x7b, 0x7d, 0xe2, 0x82], at: 2 },
    { name: "Latin-1", bytes: [...Buffer.from('{"a":"é"}', "latin1")], at: 6 },
    { name: "UTF-16 with its mark", bytes: [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00], at: 0 },
    { name: "a fault behind whole characters", bytes: [...Buffer.from('{"é漢😀'), 0xff, 0x7d], at: 11 },
  ])("names the place of $name", ({ bytes, at }) => {
    expect(check(Uint8Array.from(bytes), 100)).toMatchObject({ code: "FRAME_NOT_UTF8", offset: 100 + at });
  });

  it("finds exactly the bytes that TextDecoder refuses, with a whole text before the place it names", () => {
    const unit = fc.oneof(
      fc.uint8Array({ maxLength: 3 }),
      fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
    );
    const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    const isText = (bytes: Uint8Array): boolean => {
      try {
        return typeof strict.decode(bytes) === "string";
      } catch {
        return false; // what `fatal` says
      }
    };
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        const bytes = Buffer.concat(units);
        const fault = check(bytes);
        expect(fault?.code === "FRAME_NOT_UTF8").toBe(!isText(bytes) && fault?.code !== "FRAME_HAS_BOM");
        if (fault?.code === "FRAME_NOT_UTF8") expect(isText(bytes.subarray(0, fault.offset))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("leaves the decoder usable: bad and good lines come in order", () => {
    const decoder = createLineDecoder();
    const lines = ["starting up…", '{"a":1}', "\ufeff{}", '{"b":2}', "\xff"].map((line, index) =>
      Buffer.from(`${line}\n`, index === 4 ? "latin1" : "utf8"),
    );
    const codes = decoder.push(Buffer.concat(lines)).map((frame) => checkFrame(frame)?.code ?? "good");
    expect(codes).toEqual(["FRAME_NOT_JSON", "good", "FRAME_HAS_BOM", "good", "FRAME_NOT_UTF8"]);
    expect(decoder.push(Buffer.from("{}\n"))).toHaveLength(1);
  });
});
