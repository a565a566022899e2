import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Edit, replaceId, scanEnvelope, splice } from "../src/index.js";

const edit = (start: number, end: number, text: string): Edit => ({ start, end, bytes: Buffer.from(text) });
const spliced = (text: string, edits: readonly Edit[]): string =>
  Buffer.from(splice(Buffer.from(text), edits)).toString();

describe("splice", () => {
  it.each([
    { name: "nothing", edits: [], result: "0123456789" },
    { name: "a longer text", edits: [edit(2, 4, "abc")], result: "01abc456789" },
    { name: "a shorter text", edits: [edit(2, 6, "a")], result: "01a6789" },
    { name: "a removal", edits: [edit(0, 3, "")], result: "3456789" },
    { name: "the ends", edits: [edit(0, 0, "<"), edit(10, 10, ">")], result: "<0123456789>" },
    { name: "edits out of order", edits: [edit(8, 9, "y"), edit(1, 2, "x")], result: "0x234567y9" },
    { name: "edits that touch", edits: [edit(2, 4, "a"), edit(4, 6, "b")], result: "01ab6789" },
    {
      name: "insertions at one place, in their order",
      edits: [edit(5, 5, "a"), edit(5, 5, "b")],
      result: "01234ab56789",
    },
    { name: "an insertion before a replacement", edits: [edit(5, 6, "x"), edit(5, 5, "a")], result: "01234ax6789" },
    { name: "everything", edits: [edit(0, 10, "")], result: "" },
  ])("makes $name", ({ edits, result }) => {
    expect(spliced("0123456789", edits)).toBe(result);
  });

  it.each([
    { name: "an overlap", edits: [edit(2, 5, ""), edit(4, 6, "")] },
    { name: "an insertion inside another", edits: [edit(2, 5, ""), edit(3, 3, "x")] },
    { name: "a place outside", edits: [edit(9, 11, "")] },
    { name: "a negative place", edits: [edit(-1, 0, "")] },
    { name: "an end before the start", edits: [edit(3, 2, "")] },
  ])("refuses $name", ({ edits }) => {
    expect(() => spliced("0123456789", edits)).toThrow(RangeError);
  });

  it("changes neither the frame nor the list of edits", () => {
    const frame = Buffer.from("0123456789");
    const edits = [edit(8, 9, "y"), edit(1, 2, "x")];
    splice(frame, edits).fill(0);
    expect(frame.toString()).toBe("0123456789");
    expect(edits.map(({ start }) => start)).toEqual([8, 1]);
  });
});

describe("replaceId", () => {
  const text =
    '{ "big": 12345678901234567890, "n": 1.0, "k": 1, "k": 2, "id" : "\\u0061" ,"jsonrpc":"2.0","result":"é" }';

  it("keeps every other byte: big integers, 1.0, equal keys, order, white space", () => {
    const ids = fc.oneof(fc.maxSafeInteger(), fc.string({ unit: "binary" }));
    fc.assert(
      fc.property(ids, (id) => {
        const frame = Buffer.from(text);
        const renamed = replaceId(frame, scanEnvelope(frame), id);
        expect(Buffer.from(renamed).toString()).toBe(text.replace('"\\u0061"', () => JSON.stringify(id)));
        expect(scanEnvelope(renamed).id?.value).toBe(Object.is(id, -0) ? 0 : id);
      }),
    );
  });

  it("gives back the bytes of an id that a double cannot hold", () => {
    const request = Buffer.from('{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}');
    const { id } = scanEnvelope(request);
    const answer = Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}');
    const place = scanEnvelope(answer).id;
    if (id === undefined || place === undefined) throw new Error("no id");
    const edits = [{ start: place.start, end: place.end, bytes: request.subarray(id.start, id.end) }];
    expect(Buffer.from(splice(answer, edits)).toString()).toBe('{"jsonrpc":"2.0","id":9007199254740993,"result":{}}');
  });

  it("refuses a message without id, and an id that JSON or a peer cannot hold", () => {
    const notification = Buffer.from('{"jsonrpc":"2.0","method":"m"}');
    expect(() => replaceId(notification, scanEnvelope(notification), 1)).toThrow(RangeError);
    for (const id of [1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => replaceId(Buffer.from(text), scanEnvelope(Buffer.from(text)), id)).toThrow(RangeError);
    }
  });
});
