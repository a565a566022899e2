import { describe, expect, it } from "vitest";
import { createLineDecoder, type OversizeFrame } from "../src/index.js";
import { decodeAll } from "./cuts.js";
import { describeFrameDecoder } from "./frame-decoder.contract.js";
import { thrown } from "./thrown.js";

describeFrameDecoder("line codec", {
  create: createLineDecoder,
  wrap: (body) => Buffer.concat([body, Buffer.from("\n")]),
  lead: () => 0,
});

const texts = (chunks: string[], options = {}): string[] =>
  decodeAll(
    createLineDecoder(options),
    chunks.map((chunk) => Buffer.from(chunk)),
  ).map((frame) => frame.text);

describe("line codec", () => {
  it.each([
    { name: "one line", chunks: ["{}\n"], frames: ["{}"] },
    { name: "two lines in one chunk", chunks: ["{}\n[]\n"], frames: ["{}", "[]"] },
    { name: "a line over three chunks", chunks: ['{"a', '":', "1}\n"], frames: ['{"a":1}'] },
    { name: "CRLF", chunks: ["{}\r\n[]\r\n"], frames: ["{}", "[]"] },
    { name: "CRLF cut between its bytes", chunks: ["{}\r", "\n"], frames: ["{}"] },
    { name: "only one carriage return is the terminator's", chunks: ["{}\r\r\n"], frames: ["{}\r"] },
    { name: "a carriage return alone ends nothing", chunks: ["{}\r{}\n"], frames: ["{}\r{}"] },
    { name: "blank lines", chunks: ["\n\r\n{}\n \t\n\n"], frames: ["{}"] },
    { name: "a blank line over chunks", chunks: [" ", "\r", "\n", "{}\n"], frames: ["{}"] },
    { name: "white space around a message is kept", chunks: [" {} \n"], frames: [" {} "] },
  ])("reads $name", ({ chunks, frames }) => {
    expect(texts(chunks)).toEqual(frames);
  });

  it("frames bytes that are not UTF-8 as well: they are for checkFrame to judge", () => {
    expect(decodeAll(createLineDecoder(), [Buffer.of(0xff, 0x0a, 0xc3, 0x0a)])).toEqual([
      { text: "\xff", offset: 0 },
      { text: "\xc3", offset: 2 },
    ]);
  });

  it("does not take U+2028, U+2029, U+0085, vertical tab or form feed for line ends", () => {
    const text = '{"a":"\u2028\u2029\u0085\v\f"}';
    expect(decodeAll(createLineDecoder(), [Buffer.from(`${text}\n`)])).toEqual([
      { text: Buffer.from(text).toString("latin1"), offset: 0 },
    ]);
  });

  it.each([
    { name: "LF", end: "\n", extra: 0 },
    { name: "CRLF", end: "\r\n", extra: 0 },
  ])("does not count the terminator $name against the limit, also when it comes later", ({ end }) => {
    const line = "x".repeat(10);
    expect(texts([line, end], { maxFrameBytes: 10 })).toEqual([line]);
    expect(texts([`${line}${end}`], { maxFrameBytes: 10 })).toEqual([line]);
    expect(texts([...`${line}${end}`], { maxFrameBytes: 10 })).toEqual([line]);
    for (const chunks of [[`${line}x${end}`], [line, "x", end], [`${line}\r`, `x${end}`]]) {
      expect(() => texts(chunks, { maxFrameBytes: 10 })).toThrow("over 10 bytes");
    }
  });

  it("fails before the line feed comes, since a peer may never send one", () => {
    const decoder = createLineDecoder({ maxFrameBytes: 10 });
    decoder.push(Buffer.from("0123456789"));
    expect(thrown(() => decoder.push(Buffer.from("x"))).code).toBe("FRAME_TOO_LARGE");
    expect(decoder.bufferedBytes).toBeLessThanOrEqual(11);
  });

  it("refuses a last line without line feed, and says where it began", () => {
    const decoder = createLineDecoder();
    expect(decoder.push(Buffer.from("{}\n[1"))).toHaveLength(1);
    const error = thrown(() => decoder.end());
    expect(error).toMatchObject({ code: "STREAM_TRUNCATED", offset: 3 });
    expect(thrown(() => decoder.push(Buffer.from("]\n"))).code).toBe("STREAM_TRUNCATED");
  });

  it("takes a last line without line feed for a frame when told so", () => {
    expect(texts(["{}\n[1]\r"], { unterminated: "accept" })).toEqual(["{}", "[1]"]);
    expect(texts(["{}\n[1", "]"], { unterminated: "accept" })).toEqual(["{}", "[1]"]);
  });

  it.each(["reject", "accept"])(
    "does not take trailing white space for a message (unterminated: %s)",
    (unterminated) => {
      expect(texts(["{}\n \r"], { unterminated })).toEqual(["{}"]);
    },
  );

  it("goes on after an oversize line, and says what it was", () => {
    const skipped: OversizeFrame[] = [];
    const decoder = createLineDecoder({
      maxFrameBytes: 8,
      oversize: "skip",
      onOversize: (frame) => skipped.push(frame),
    });
    const frames = decodeAll(decoder, [Buffer.from('{}\n{"long'), Buffer.from('er":1}\r\n{"a":1}\n')]);
    expect(frames).toEqual([
      { text: "{}", offset: 0 },
      { text: '{"a":1}', offset: 17 },
    ]);
    expect(skipped).toMatchObject([{ offset: 3, byteLength: 12 }]);
    expect(Buffer.from(skipped[0]?.head ?? []).toString()).toBe('{"longer":1}');
  });

  it("tells of an oversize line that the end of the stream cut, and refuses it", () => {
    const skipped: OversizeFrame[] = [];
    const onOversize = (frame: OversizeFrame): unknown => skipped.push(frame);
    const decoder = createLineDecoder({ maxFrameBytes: 4, oversize: "skip", onOversize });
    decoder.push(Buffer.from("123456"));
    expect(thrown(() => decoder.end())).toMatchObject({ code: "STREAM_TRUNCATED", offset: 0 });
    expect(skipped).toMatchObject([{ offset: 0, byteLength: 6 }]);
    expect(skipped[0]?.envelope).toBeUndefined();
  });

  it("copies at most 1 KiB of an oversize line", () => {
    const skipped: OversizeFrame[] = [];
    const onOversize = (frame: OversizeFrame): unknown => skipped.push(frame);
    const decoder = createLineDecoder({ maxFrameBytes: 4, oversize: "skip", onOversize });
    for (let round = 0; round < 50; round++) decoder.push(Buffer.alloc(100, round));
    decoder.push(Buffer.from("\n"));
    const lineOfRound10 = skipped[1]; // a chunk of bytes with value 10 is a hundred line feeds
    expect(lineOfRound10?.head.length).toBe(1024);
    expect(lineOfRound10?.byteLength).toBe(3900);
  });

  it.each([
    [{ maxFrameByte: 3 }, TypeError],
    [{ oversize: "drop" }, RangeError],
    [{ unterminated: "yes" }, RangeError],
  ])("refuses the options %j", (options, kind) => {
    const create: (options: object) => unknown = createLineDecoder;
    expect(() => create(options)).toThrow(kind);
  });
});
