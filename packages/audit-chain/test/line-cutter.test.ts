// Tests inner files: what the reader does with bytes that were cut anywhere is where a reader goes wrong first.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineText, maxLineBytes, readLine, wholeLinesIn } from "../src/line.js";
import { createLineCutter } from "../src/line-cutter.js";

/** Cuts at the given places, into Buffers over one memory that is overwritten after each push. */
function cutLines(bytes: Buffer, cuts: readonly number[]): { text: string; offset: number; tooLong: boolean }[] {
  const cutter = createLineCutter();
  const found: { text: string; offset: number; tooLong: boolean }[] = [];
  const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b);
  for (const [index, from] of places.entries()) {
    const chunk = Buffer.from(bytes.subarray(from, places[index + 1] ?? from));
    for (const line of cutter.push(chunk)) found.push({ ...line, text: Buffer.from(line.bytes).toString("latin1") });
    chunk.fill(0x21);
  }
  const rest = cutter.rest();
  return [...found, { ...rest, text: Buffer.from(rest.bytes).toString("latin1") }];
}

describe("cutting into lines", () => {
  it("gives the same lines however the bytes are cut, also from memory that is used again", () => {
    const text = fc.array(fc.stringMatching(/^[a-c]{0,20}$/)).map((lines) => Buffer.from(lines.join("\n")));
    const check = fc.property(text, fc.array(fc.nat()), (bytes, cuts) => {
      let offset = 0;
      const expected = bytes
        .toString()
        .split("\n")
        .map((line) => {
          const at = offset;
          offset += line.length + 1;
          return expect.objectContaining({ text: line, offset: at, tooLong: false });
        });
      expect(cutLines(bytes, cuts)).toEqual(expected);
    });
    fc.assert(check);
  });

  it("keeps nothing of a line that is too long, and finds the next one at its place", () => {
    const long = Buffer.concat([Buffer.alloc(maxLineBytes + 1, 0x61), Buffer.from("\nb\n")]);
    for (const cuts of [[], [1], [maxLineBytes], [10, 20, maxLineBytes + 1], [maxLineBytes + 2]]) {
      expect(cutLines(long, cuts)).toEqual([
        expect.objectContaining({ text: "", offset: 0, tooLong: true }),
        expect.objectContaining({ text: "b", offset: maxLineBytes + 2, tooLong: false }),
        expect.objectContaining({ text: "", offset: maxLineBytes + 4, tooLong: false }),
      ]);
    }
  });

  it("takes a line of exactly the limit", () => {
    const bytes = Buffer.concat([Buffer.alloc(maxLineBytes, 0x61), Buffer.from("\n")]);
    expect(cutLines(bytes, [7])[0]?.text).toHaveLength(maxLineBytes);
  });
});

describe("taking a line apart", () => {
  const hash = "0123456789abcdef".repeat(4);
  const line = lineText("entry", '{"a":1}', hash).slice(0, -1);

  it("finds kind, body and hash by position", () => {
    const parts = readLine(Buffer.from(line));
    expect(parts?.kind).toBe("entry");
    expect(Buffer.from(parts?.body ?? []).toString()).toBe('{"a":1}');
    expect(Buffer.from(parts?.hash ?? []).toString()).toBe(hash);
  });

  it.each([
    { name: "nothing", text: "" },
    { name: "another kind", text: line.replace("entry", "other") },
    { name: "an empty body", text: lineText("entry", "", hash).slice(0, -1) },
    { name: "upper-case digits", text: line.replace("abcdef", "ABCDEF") },
    { name: "a digit too few", text: line.replace("0123", "123") },
    { name: "something behind it", text: `${line} ` },
    { name: "something before it", text: ` ${line}` },
  ])("refuses $name", ({ text }) => {
    expect(readLine(Buffer.from(text))).toBeUndefined();
  });

  it("finds a whole line only when something stands behind it", () => {
    expect([...wholeLinesIn(Buffer.from(line))]).toHaveLength(0);
    expect([...wholeLinesIn(Buffer.from(`${line} `))]).toHaveLength(1);
    expect([...wholeLinesIn(Buffer.from(`${line}${line.slice(0, 20)}`))]).toHaveLength(1);
  });
});
