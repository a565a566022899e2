import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import { processorMs } from "../../../fixtures/processor-time.js";
import { createHeaderDecoder, encodeHeaderFrame, type JsonObject } from "../src/index.js";
import { decodeAll } from "./cuts.js";
import { describeFrameDecoder, fastest } from "./frame-decoder.contract.js";
import { codeOf, thrown } from "./thrown.js";

describeFrameDecoder("header codec", {
  create: createHeaderDecoder,
  wrap: (body) => encodeHeaderFrame(body, { maxFrameBytes: 268_435_456 }),
  lead: (body) => encodeHeaderFrame(body, { maxFrameBytes: 268_435_456 }).length - body.length,
});

const push = (text: string, options = {}): (() => unknown) => {
  return () => createHeaderDecoder(options).push(Buffer.from(text, "latin1"));
};
const bodies = (text: string): string[] =>
  decodeAll(createHeaderDecoder(), [Buffer.from(text)]).map((frame) => frame.text);

describe("header codec", () => {
  it.each([
    { name: "another case", header: "content-length: 2\r\n\r\n" },
    { name: "no space", header: "Content-Length:2\r\n\r\n" },
    { name: "spaces and tabs around the number", header: "Content-Length: \t 2\t \r\n\r\n" },
    { name: "leading zeros", header: "Content-Length: 0002\r\n\r\n" },
    { name: "other fields", header: "X-A: é=ignored\r\nContent-Length: 2\r\n\r\n".replace("é", "e") },
    {
      name: "charset utf-8",
      header: "Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
    },
    { name: "charset utf8", header: 'Content-Type: a/b; charset="UTF8"\r\nContent-Length: 2\r\n\r\n' },
    { name: "a type without charset", header: "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n" },
  ])("reads a header with $name", ({ header }) => {
    expect(bodies(`${header}{}${header}[]`)).toEqual(["{}", "[]"]);
  });

  it.each([
    "-1",
    "+2",
    "2.0",
    "1e1",
    "0x2",
    "12abc",
    "",
    " ",
    "2 2",
    "2,2",
    "٢",
    "9007199254740993",
    "99999999999999999999",
  ])("refuses %j as a Content-Length", (value) => {
    expect(codeOf(push(`Content-Length: ${value}\r\n\r\n{}`))).toBe("HEADER_INVALID");
  });

  it.each([
    { name: "no Content-Length", header: "X-A: 1\r\n\r\n" },
    { name: "an empty block", header: "\r\n\r\n" },
    { name: "two lengths", header: "Content-Length: 2\r\nContent-Length: 2\r\n\r\n" },
    { name: "a line without colon", header: "hello\r\nContent-Length: 2\r\n\r\n" },
    { name: "a space before the name", header: " Content-Length: 2\r\n\r\n" },
    { name: "a space before the colon", header: "Content-Length : 2\r\n\r\n" },
    { name: "a folded line", header: "Content-Length: 2\r\n 2\r\n\r\n" },
    { name: "a control character", header: "X-A: \u0001\r\nContent-Length: 2\r\n\r\n" },
    { name: "a byte above ASCII", header: "X-A: \u00e9\r\nContent-Length: 2\r\n\r\n" },
    { name: "a lone line feed as line end", header: "X-A: 1\nContent-Length: 2\r\n\r\n" },
    { name: "another charset", header: "Content-Type: a/b; charset=utf-16\r\nContent-Length: 2\r\n\r\n" },
  ])("refuses a header with $name", ({ header }) => {
    expect(codeOf(push(`${header}{}`))).toBe("HEADER_INVALID");
  });

  it("bounds the header block, its empty line included", () => {
    const header = (length: number): string => {
      const fixed = "Content-Length: 2\r\nX: \r\n\r\n";
      return fixed.replace("X: ", `X: ${"y".repeat(length - fixed.length)}`);
    };
    expect(header(100)).toHaveLength(100);
    expect(codeOf(push(`${header(100)}{}`, { maxHeaderBytes: 100 }))).toBe("none");
    expect(codeOf(push(`${header(101)}{}`, { maxHeaderBytes: 100 }))).toBe("HEADER_TOO_LARGE");
    expect(codeOf(push("z".repeat(100), { maxHeaderBytes: 100 }))).toBe("HEADER_TOO_LARGE");
    expect(codeOf(push("z".repeat(99), { maxHeaderBytes: 100 }))).toBe("none");
  });

  it("reads a hostile header in no time: many spaces, colons and semicolons", () => {
    const hostile = [" ", ":", ";", "; charset", "a: ", "\r\n"].map((piece) => piece.repeat(60_000).slice(0, 60_000));
    const used = processorMs(() => {
      for (const text of hostile) codeOf(push(`Content-Type: ${text}\u0001\r\n\r\n`, { maxHeaderBytes: 65_536 }));
    });
    expect(used).toBeLessThan(2_000); // a backtracking reader takes minutes
  });

  it("does not copy a chunk anew for each of the thousands of messages in it", () => {
    const chunk = Buffer.concat(Array(20_000).fill(encodeHeaderFrame("{}")));
    const read = (maxHeaderBytes: number): number =>
      fastest(() => {
        expect(createHeaderDecoder({ maxHeaderBytes }).push(chunk)).toHaveLength(20_000);
      });
    expect(read(65_536)).toBeLessThan(4 * read(32) + 100); // a copy for each message is a gigabyte
  });

  it("takes a body of no bytes for a frame", () => {
    expect(bodies("Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}")).toEqual(["", "{}"]);
    expect(bodies("Content-Length: 0\r\n\r\n")).toEqual([""]);
  });

  it("allows line feeds in a body", () => {
    expect(bodies("Content-Length: 3\r\n\r\n{\n}")).toEqual(["{\n}"]);
  });

  it("tests the promised length before any of the body has come", () => {
    expect(codeOf(push("Content-Length: 101\r\n\r\n", { maxFrameBytes: 100 }))).toBe("FRAME_TOO_LARGE");
  });

  it.each([
    { name: "inside a header", text: "Content-Length: 2\r\n\r\n{}Content-Le", offset: 23 },
    { name: "before a body", text: "Content-Length: 2\r\n\r\n", offset: 21 },
    { name: "inside a body", text: "Content-Length: 2\r\n\r\n{", offset: 21 },
  ])("refuses a stream that ends $name, and says where that began", ({ text, offset }) => {
    const decoder = createHeaderDecoder();
    decoder.push(Buffer.from(text));
    expect(thrown(() => decoder.end())).toMatchObject({ code: "STREAM_TRUNCATED", offset });
  });

  it("tells of an oversize body that the end of the stream cut", () => {
    const skipped: unknown[] = [];
    const decoder = createHeaderDecoder({
      maxFrameBytes: 4,
      oversize: "skip",
      onOversize: (frame) => skipped.push(frame),
    });
    decoder.push(Buffer.from("Content-Length: 9\r\n\r\n123"));
    expect(thrown(() => decoder.end())).toMatchObject({ code: "STREAM_TRUNCATED", offset: 21 });
    expect(skipped).toMatchObject([{ offset: 21, byteLength: 3 }]);
  });
});

const conversation: JsonObject[] = [
  { jsonrpc: "2.0", id: 1, method: "initialize", params: { text: "é漢😀\n\r\n\r\nContent-Length: 5" } },
  { jsonrpc: "2.0", method: "initialized" },
  { jsonrpc: "2.0", id: 1, result: { long: "x".repeat(100_000) } },
  { jsonrpc: "2.0", id: "a", error: { code: -32601, message: "" } },
];

describe("header codec and vscode-jsonrpc", () => {
  it("reads what vscode-jsonrpc writes", async () => {
    const wire = new PassThrough();
    const writer = new StreamMessageWriter(wire);
    const written = Promise.all(conversation.map((message) => writer.write({ jsonrpc: "2.0", ...message })));
    const ended = written.then(() => wire.end());
    const decoder = createHeaderDecoder();
    const frames = [];
    for await (const chunk of wire) frames.push(...decoder.push(chunk));
    await ended;
    expect(decoder.end()).toEqual([]);
    expect(frames.map((frame) => JSON.parse(Buffer.from(frame.bytes).toString()))).toEqual(conversation);
  });

  it("writes what vscode-jsonrpc reads", async () => {
    const wire = new PassThrough();
    const received: unknown[] = [];
    const all = new Promise<void>((resolve, reject) => {
      const reader = new StreamMessageReader(wire);
      reader.onError(reject);
      reader.listen((message) => {
        if (received.push(message) === conversation.length) resolve();
      });
    });
    for (const message of conversation) wire.write(encodeHeaderFrame(message));
    await all;
    expect(received).toEqual(conversation);
  });
});
