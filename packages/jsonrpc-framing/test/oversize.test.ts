import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createLineDecoder,
  type Envelope,
  isFramingError,
  type OversizeEnvelope,
  type OversizeFrame,
  scanEnvelope,
} from "../src/index.js";
import { cut, places } from "./cuts.js";
import { damage } from "./damage.js";
import { messageText } from "./json-text.js";

/** What a decoder with a limit of one byte says of a line. */
function skip(line: Uint8Array, at: readonly number[] = []): OversizeFrame {
  const skipped: OversizeFrame[] = [];
  const decoder = createLineDecoder({ maxFrameBytes: 1, oversize: "skip", onOversize: (frame) => skipped.push(frame) });
  for (const chunk of cut(Buffer.concat([line, Buffer.from("\n")]), at)) decoder.push(chunk);
  const [frame] = skipped;
  if (frame === undefined || skipped.length > 1) throw new Error(`${skipped.length} frames were skipped`);
  return frame;
}

const envelopeOf = (text: string): OversizeEnvelope | undefined => skip(Buffer.from(text)).envelope;

describe("the envelope of an oversize frame", () => {
  it.each([
    { name: "the id first", text: '{"jsonrpc":"2.0","id":5,"result":{}}', envelope: { kind: "response", id: 5 } },
    {
      name: "the id last, as SDK 1.x writes it",
      text: '{"result":{"a":[{"id":9}]},"jsonrpc":"2.0","id":5}',
      envelope: { kind: "response", id: 5 },
    },
    {
      name: "a request",
      text: '{"jsonrpc":"2.0","id":"a","method":"m","params":{"id":1}}',
      envelope: { kind: "request", id: "a" },
    },
    {
      name: "a notification",
      text: '{"jsonrpc":"2.0","method":"m","params":{"id":1}}',
      envelope: { kind: "notification", id: undefined },
    },
    {
      name: "an error",
      text: '{"jsonrpc":"2.0","id":1.0,"error":{"code":1,"message":"m"}}',
      envelope: { kind: "error", id: 1 },
    },
    {
      name: "an error without id",
      text: '{"jsonrpc":"2.0","id":null,"error":{}}',
      envelope: { kind: "error", id: undefined },
    },
    {
      name: "the last of equal ids",
      text: '{"jsonrpc":"2.0","id":1,"result":"}","\\u0069d":2}',
      envelope: { kind: "response", id: 2 },
    },
    { name: "CRLF", text: '{"jsonrpc":"2.0","id":1,"result":1}\r', envelope: { kind: "response", id: 1 } },
    {
      name: "1,000 levels",
      text: `{"jsonrpc":"2.0","id":1,"result":${"[".repeat(1000)}${"]".repeat(1000)}}`,
      envelope: { kind: "response", id: 1 },
    },
  ])("is found with $name", ({ text, envelope }) => {
    expect(envelopeOf(text)).toEqual(envelope);
  });

  it.each([
    { name: "a look-alike id inside", text: '{"jsonrpc":"2.0","result":{"id":5}}' },
    { name: "an id inside a string", text: '{"jsonrpc":"2.0","result":"\\",\\"id\\":5"}' },
    { name: "method beside result", text: '{"jsonrpc":"2.0","id":5,"method":"m","result":1}' },
    { name: "a batch", text: '[{"jsonrpc":"2.0","id":5,"result":1}]' },
    { name: "something behind", text: '{"jsonrpc":"2.0","id":5,"result":1}x' },
    { name: "something before", text: 'x{"jsonrpc":"2.0","id":5,"result":1}' },
    { name: "a bracket of another kind", text: '{"jsonrpc":"2.0","id":5,"result":[}}' },
    { name: "no end", text: '{"jsonrpc":"2.0","id":5,"result":1' },
    { name: "an id of over 512 bytes", text: `{"jsonrpc":"2.0","id":"${"x".repeat(511)}","result":1}` },
    { name: "a key of over 512 bytes", text: `{"jsonrpc":"2.0","id":1,"result":1,"${"x".repeat(511)}":1}` },
    { name: "over 1,024 levels", text: `{"jsonrpc":"2.0","id":1,"result":${"[".repeat(1025)}${"]".repeat(1025)}}` },
    { name: "a byte order mark", text: '\ufeff{"jsonrpc":"2.0","id":5,"result":1}' },
  ])("is absent with $name", ({ text }) => {
    expect(skip(Buffer.from(text))).toMatchObject({ envelope: undefined });
  });

  it("is absent when a byte anywhere is not UTF-8, also where chunks are cut", () => {
    const text = Buffer.from('{"jsonrpc":"2.0","id":5,"result":"漢😀é"}');
    for (let at = 0; at <= text.length; at++) {
      expect(skip(text, [at]).envelope).toEqual({ kind: "response", id: 5 });
      expect(skip(text, [at, at + 1]).envelope).toEqual({ kind: "response", id: 5 });
      for (const bad of [34, 37, 41]) {
        expect(skip(Buffer.from(text).fill(0xff, bad, bad + 1), [at]).envelope).toBeUndefined();
        expect(skip(Buffer.from(text).fill(0x41, bad, bad + 1), [at]).envelope).toBeUndefined();
      }
    }
    expect(skip(Buffer.concat([text, Buffer.of(0xc3)])).envelope).toBeUndefined();
  });

  it("is what scanEnvelope says of the whole, however the bytes are cut", () => {
    fc.assert(
      fc.property(messageText, places, (text, at) => {
        const bytes = Buffer.from(oneLine(text));
        const { envelope } = skip(bytes, at);
        expect(envelope).toEqual(expected(bytes, envelope));
      }),
      { numRuns: 4000 },
    );
  });

  it("is never another than scanEnvelope says of a damaged text", () => {
    fc.assert(
      fc.property(messageText, damage, places, (text, harm, at) => {
        const bytes = harm(Buffer.from(oneLine(text))).map((byte) => (byte === 10 ? 32 : byte));
        if (withoutReturn(bytes) < 2) return;
        const { envelope } = skip(bytes, at);
        expect(envelope).toEqual(expected(bytes, envelope));
      }),
      { numRuns: 4000 },
    );
  });
});

/** A carriage return before the line feed is not of the line. */
const withoutReturn = (bytes: Uint8Array): number => bytes.length - (bytes.at(-1) === 13 ? 1 : 0);

const oneLine = (text: string): string => text.replaceAll("\n", " ");

/**
 * scanEnvelope's answer, but for what the watch may do otherwise: it takes an error object for one unseen, and is lost
 * after a token of over 512 bytes.
 */
function expected(bytes: Uint8Array, envelope: OversizeEnvelope | undefined): OversizeEnvelope | undefined {
  const whole = attempt(bytes);
  if (whole === undefined) return envelope?.kind === "error" ? envelope : undefined;
  const isLong = envelope === undefined && /[^:]{513}/.test(Buffer.from(bytes).toString("latin1"));
  return isLong ? undefined : { kind: whole.kind, id: whole.id?.value };
}

function attempt(bytes: Uint8Array): Envelope | undefined {
  try {
    return scanEnvelope(bytes);
  } catch (error) {
    if (isFramingError(error)) return undefined;
    throw error;
  }
}
