import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Envelope, isFramingError, type Span, scanEnvelope } from "../src/index.js";
import { damage } from "./damage.js";
import { fastest } from "./frame-decoder.contract.js";
import { messageText, valueText } from "./json-text.js";
import { isClosed, judge } from "./oracle.js";
import { codeOf, thrown } from "./thrown.js";

const scan = (text: string, wanted?: readonly string[], options = {}): Envelope =>
  scanEnvelope(Buffer.from(text), wanted, options);
const at = (text: string, span: Span | undefined): string | undefined =>
  span && Buffer.from(text).toString("utf8", span.start, span.end);
const parsed = (text: string, span: Span | undefined): unknown => {
  const found = at(text, span);
  return found === undefined ? undefined : JSON.parse(found);
};

describe("scanEnvelope", () => {
  it.each([
    {
      name: "a request",
      text: '{"jsonrpc":"2.0","id":7,"method":"a/b","params":{"x":1}}',
      kind: "request",
      id: 7,
      method: "a/b",
      params: '{"x":1}',
    },
    { name: "a notification", text: '{"method":"n","jsonrpc":"2.0"}', kind: "notification", method: "n" },
    {
      name: "the id last",
      text: '{"result":{"a":[{}]},"jsonrpc":"2.0","id":5}',
      kind: "response",
      id: 5,
      result: '{"a":[{}]}',
    },
    { name: "an escaped key", text: '{"jsonrpc":"2.0","\\u0069d":5,"result":1}', kind: "response", id: 5, result: "1" },
    {
      name: "the last of equal ids",
      text: '{"id":1,"jsonrpc":"2.0","id":2,"result":0,"\\u0069\\u0064":3}',
      kind: "response",
      id: 3,
      result: "0",
    },
    {
      name: "an id in other clothes",
      text: '{"jsonrpc":"2.0","id":1e2,"result":0}',
      kind: "response",
      id: 100,
      result: "0",
    },
    {
      name: "a big id, rounded as JSON.parse does",
      text: '{"jsonrpc":"2.0","id":9007199254740993,"result":0}',
      kind: "response",
      id: 9007199254740992,
      result: "0",
    },
    {
      name: "a string id with escapes",
      text: '{"jsonrpc":"2.0","id":"\\u0031\\n","method":"\\ud83d\\ude00"}',
      kind: "request",
      id: "1\n",
      method: "😀",
    },
    {
      name: "names inside strings and values",
      text: '{"jsonrpc":"2.0","x":"\\"id\\":9","y":{"id":8,"method":"z"},"id":1,"result":[]}',
      kind: "response",
      id: 1,
      result: "[]",
    },
    {
      name: "white space everywhere",
      text: ' { "jsonrpc" : "2.0" ,\n"id"\t: 1 , "result" : true } \r',
      kind: "response",
      id: 1,
      result: "true",
    },
    {
      name: "an error with id null",
      text: '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}',
      kind: "error",
      error: '{"code":1,"message":""}',
    },
  ])("reads $name", ({ text, kind, id, method, params, result, error }) => {
    const envelope = scan(text);
    expect({ kind: envelope.kind, id: envelope.id?.value, method: envelope.method }).toEqual({ kind, id, method });
    expect(at(text, envelope.params)).toBe(params);
    expect(at(text, envelope.result)).toBe(result);
    expect(at(text, envelope.error)).toBe(error);
    if (envelope.id) expect(parsed(text, envelope.id)).toBe(id);
  });

  it("finds the wanted members of params, the last of equal ones, and no others", () => {
    const text =
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a","x":{"_meta":0},"\\u005fmeta":{"t":1},"name":"b"}}';
    const { members } = scan(text, ["name", "_meta", "uri"]);
    expect([...(members ?? [])].map(([name, span]) => [name, at(text, span)])).toEqual([
      ["name", '"b"'],
      ["_meta", '{"t":1}'],
    ]);
    expect(scan(text).members).toBeUndefined();
    expect(scan('{"jsonrpc":"2.0","method":"m","params":[{"name":1}]}', ["name"]).members?.size).toBe(0);
    expect(scan('{"jsonrpc":"2.0","method":"m","params":{"name":1},"params":{}}', ["name"]).members?.size).toBe(0);
    expect(scan('{"jsonrpc":"2.0","id":1,"result":1,"params":{"name":1}}', ["name"]).members).toBeUndefined();
  });

  it.each([
    { name: "the id", text: '{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}', requestId: undefined },
    { name: "the id, escaped", text: '{"jsonrpc":"2.0","id":1,"method":"m","\\u0069d":2}', requestId: undefined },
    { name: "the method", text: '{"jsonrpc":"2.0","method":"a","id":1,"method":"b"}', requestId: 1 },
    { name: "params", text: '{"jsonrpc":"2.0","method":"a","params":{},"params":{"name":1},"id":"x"}', requestId: "x" },
    { name: "the result", text: '{"jsonrpc":"2.0","id":1,"result":1,"result":2}', requestId: undefined },
    { name: "a wanted one", text: '{"jsonrpc":"2.0","method":"a","params":{"name":1,"name":1},"id":7}', requestId: 7 },
  ])("refuses a member that is there twice when it is told to: $name", ({ text, requestId }) => {
    const frame = Buffer.from(text);
    expect(scanEnvelope(frame, ["name"])).toMatchObject({ kind: expect.any(String) });
    for (const grammar of ["envelope", "full"] as const) {
      const error = thrown(() => scanEnvelope(frame, ["name"], { grammar, duplicateKeys: "refuse" }));
      expect(error).toMatchObject({ code: "DUPLICATE_KEY", wireCode: -32600, offset: expect.any(Number), requestId });
    }
  });

  it("refuses no member that is there twice and was not looked for", () => {
    const frame = Buffer.from(
      '{"jsonrpc":"2.0","method":"a","x":1,"x":2,"params":{"a":1,"a":{"name":1,"name":2},"name":3}}',
    );
    expect(scanEnvelope(frame, ["name"], { duplicateKeys: "refuse" })).toMatchObject({ kind: "notification" });
  });

  it("wants names that are not ASCII, that are escapes, and that are empty", () => {
    const text = '{"jsonrpc":"2.0","method":"m","params":{"é":1,"\\\\n":2,"\\n":3,"":4,"__proto__":5,"Ã©":6}}';
    const { members } = scan(text, ["é", "\\n", "\n", "", "__proto__", "Ã©"]);
    expect([...(members ?? [])].map(([name, span]) => [name, at(text, span)])).toEqual([
      ["é", "1"],
      ["\\n", "2"],
      ["\n", "3"],
      ["", "4"],
      ["__proto__", "5"],
      ["Ã©", "6"],
    ]);
  });

  it("says of every valid text what JSON.parse and a second reading of the specification say", () => {
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: messageText }, valueText), (text) => {
        for (const grammar of ["envelope", "full"]) {
          const verdict = judge(text, false);
          if ("code" in verdict) {
            expect(codeOf(() => scan(text, undefined, { grammar }))).toBe(verdict.code);
            continue;
          }
          const wanted = ["id", "method", "__proto__", "ids", ""];
          const envelope = scan(text, wanted, { grammar });
          const { value } = verdict;
          const isCall = value.has("method");
          expect(envelope.kind).toBe(verdict.kind);
          expect(envelope.id?.value).toBe(verdict.id);
          expect(envelope.method).toBe(value.get("method"));
          expect(parsed(text, envelope.id)).toEqual(verdict.id);
          expect(parsed(text, envelope.params)).toEqual(isCall ? value.get("params") : undefined);
          expect(parsed(text, envelope.result)).toEqual(value.get("result"));
          expect(parsed(text, envelope.error)).toEqual(value.get("error"));
          if (!isCall) continue;
          const params = value.get("params") ?? {};
          const entries = Array.isArray(params) ? [] : Object.entries(params);
          const members = new Map<string, unknown>();
          for (const [name, span] of envelope.members ?? []) members.set(name, parsed(text, span));
          expect(members).toEqual(new Map(entries.filter(([name]) => wanted.includes(name))));
        }
      }),
      { numRuns: 4000 },
    );
  });

  it("names of a damaged text only what is a member of the outermost object, with closed values around", () => {
    let named = 0;
    fc.assert(
      fc.property(messageText, damage, (text, harm) => {
        const bytes = harm(Buffer.from(text));
        const envelope = attempt(bytes);
        if (envelope === undefined) return;
        named++;
        const { outline, closed } = outlineOf(bytes.toString());
        expect(closed).toBe(true);
        const verdict = judge(outline, false);
        expect(verdict).toMatchObject({ kind: envelope.kind, id: envelope.id?.value });
        if (envelope.method !== undefined)
          expect("value" in verdict && verdict.value.get("method")).toBe(envelope.method);
      }),
      { numRuns: 6000 },
    );
    expect(named).toBeGreaterThan(100);
  });

  it("names nothing of a text that is cut anywhere", () => {
    fc.assert(
      fc.property(messageText, fc.nat(), (text, place) => {
        const whole = Buffer.from(text.trim());
        const cut = whole.subarray(0, place % whole.length);
        expect(() => scanEnvelope(cut)).toThrow();
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    { name: "an id after the end", text: '{"jsonrpc":"2.0","result":1},"id":1}' },
    { name: "two messages", text: '{"jsonrpc":"2.0","id":1,"result":1}{"jsonrpc":"2.0","id":2,"result":1}' },
    { name: "print before", text: 'ok {"jsonrpc":"2.0","id":1,"result":1}' },
    { name: "a bracket of the other kind", text: '{"jsonrpc":"2.0","result":[},"id":1}' },
    { name: "a bracket of the other kind inside", text: '{"jsonrpc":"2.0","result":{"a":[1}],"id":1}' },
    { name: "a missing comma", text: '{"jsonrpc":"2.0" "id":1,"result":1}' },
    { name: "a missing colon", text: '{"jsonrpc":"2.0","id" 1,"result":1}' },
    { name: "a trailing comma", text: '{"jsonrpc":"2.0","id":1,"result":1,}' },
    { name: "a comma first", text: '{,"jsonrpc":"2.0","id":1,"result":1}' },
    { name: "single quotes", text: "{'jsonrpc':'2.0','id':1,'result':1}" },
    { name: "a bare key", text: '{jsonrpc:"2.0","id":1,"result":1}' },
    { name: "a comment", text: '{"jsonrpc":"2.0",/*"id":2,*/"id":1,"result":1}' },
    { name: "a leading zero", text: '{"jsonrpc":"2.0","id":01,"result":1}' },
    { name: "a number with a dot at its end", text: '{"jsonrpc":"2.0","id":1.,"result":1}' },
    { name: "a plus sign", text: '{"jsonrpc":"2.0","id":+1,"result":1}' },
    { name: "a hexadecimal", text: '{"jsonrpc":"2.0","id":0x1,"result":1}' },
    { name: "NaN", text: '{"jsonrpc":"2.0","id":1,"result":NaN}' },
    { name: "a word in capitals", text: '{"jsonrpc":"2.0","id":1,"result":True}' },
    { name: "a bad escape in an id", text: '{"jsonrpc":"2.0","id":"\\x","result":1}' },
    { name: "a bad escape in a key", text: '{"jsonrpc":"2.0","id":1,"result":1,"\\q":1}' },
    { name: "a short \\u in a method", text: '{"jsonrpc":"2.0","method":"\\u12"}' },
    { name: "a tab in a method", text: '{"jsonrpc":"2.0","method":"a\tb"}' },
    { name: "a NUL between tokens", text: '{"jsonrpc":"2.0",\0"id":1,"result":1}' },
    { name: "a no-break space between tokens", text: '{"jsonrpc":"2.0",\u00a0"id":1,"result":1}' },
    { name: "a string that does not end", text: '{"jsonrpc":"2.0","id":1,"result":"\\"}' },
  ])("takes $name for no JSON", ({ text }) => {
    expect(codeOf(() => scan(text))).toBe("FRAME_NOT_JSON");
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });

  it.each([
    { name: "words", text: '{"jsonrpc":"2.0","id":1,"result":{"a":tru}}' },
    { name: "commas", text: '{"jsonrpc":"2.0","id":1,"result":[1 2,,]}' },
    { name: "escapes in a value", text: '{"jsonrpc":"2.0","id":1,"result":"\\x"}' },
    { name: "control characters in a value", text: '{"jsonrpc":"2.0","id":1,"result":["\t"]}' },
  ])("does not check $name inside a nested value, unless asked to", ({ text }) => {
    expect(scan(text).id?.value).toBe(1);
    expect(codeOf(() => scan(text, undefined, { grammar: "full" }))).toBe("FRAME_NOT_JSON");
  });

  it("refuses what is not UTF-8 anywhere in the frame, and a byte order mark", () => {
    const good = Buffer.from('{"jsonrpc":"2.0","id":1,"result":"é"}');
    const bad = good.subarray().fill(0xff, 34, 35);
    expect(thrown(() => scanEnvelope(bad))).toMatchObject({ code: "FRAME_NOT_UTF8", offset: 34 });
    expect(codeOf(() => scan('\ufeff{"jsonrpc":"2.0","id":1,"result":1}'))).toBe("FRAME_HAS_BOM");
  });

  it("names the id of a refused request, never that of what may be a response", () => {
    expect(thrown(() => scan('{"jsonrpc":"1.0","id":5,"method":"a"}')).requestId).toBe(5);
    expect(thrown(() => scan('{"jsonrpc":"1.0","id":5,"result":1}')).requestId).toBeUndefined();
    expect(thrown(() => scan('{"jsonrpc":"2.0","id":5,"method":"a","result":1}')).requestId).toBeUndefined();
  });

  it("goes down any number of levels without a stack", () => {
    const levels = 1_000_000;
    const deep = `${"[".repeat(levels)}${"]".repeat(levels)}`;
    expect(scan(`{"jsonrpc":"2.0","result":${deep},"id":1}`).id?.value).toBe(1);
    expect(scan(`{"jsonrpc":"2.0","result":${deep},"id":1}`, undefined, { grammar: "full" }).id?.value).toBe(1);
    expect(codeOf(() => scan(`{"jsonrpc":"2.0","result":${deep.slice(1)},"id":1}`))).toBe("FRAME_NOT_JSON");
  });

  it.each([
    { name: "opening brackets", unit: "[", tail: "" },
    { name: "backslashes", unit: "\\\\", tail: '"' },
    { name: "escaped quotes", unit: '\\"', tail: '"' },
    { name: "quotes", unit: '"",', tail: "" },
    { name: "quotes far apart with escapes", unit: `${"x".repeat(50)}\\"`, tail: '"' },
    { name: "keys", unit: '"id":1,', tail: "" },
    { name: "escaped keys", unit: '"\\u0069d":1,', tail: "" },
    { name: "spaces", unit: " ", tail: "" },
    { name: "digits", unit: "1", tail: "" },
    { name: "long keys", unit: "k", tail: '":1' },
  ])("takes linear time over $name", ({ unit, tail }) => {
    const run = (bytes: number): void => {
      for (const start of ['{"params":"', '{"params":[', "{", '{"', '{"id":', '{"id":"']) {
        attempt(Buffer.from(start + unit.repeat(bytes / unit.length) + tail));
      }
    };
    const small = fastest(() => run(200_000));
    const large = fastest(() => run(800_000));
    expect(large).toBeLessThan(9 * small + 100); // a quadratic scan takes 16 times as long
  });
});

/** The envelope, or undefined for a refusal; anything else that is thrown is a fault. */
function attempt(bytes: Uint8Array): Envelope | undefined {
  try {
    return scanEnvelope(bytes, ["name", "id"]);
  } catch (error) {
    if (isFramingError(error)) return undefined;
    throw error;
  }
}

/**
 * The text with the values of the outermost object emptied, by regular expressions and a closing rule of its own: what a
 * reader sees that does not look into values. `closed` says whether every such value was closed in itself.
 */
function outlineOf(text: string, level = 1): { outline: string; closed: boolean } {
  let outline = text.slice(0, text.indexOf("{") + 1);
  let closed = true;
  let i = outline.length;
  for (;;) {
    const [lead = "", key] = /^[\s,]*(?:("(?:[^"\\]|\\.)*")\s*:\s*)?/su.exec(text.slice(i)) ?? [];
    outline += lead;
    i += lead.length;
    if (key === undefined) return { outline: outline + text.slice(i), closed };
    const name = isJson(key) ? JSON.parse(key) : "not a key";
    const end = endOfValue(text, i);
    const value = text.slice(i, end);
    closed &&= !/^["[{]/.test(value) || isClosed(value);
    const isRead = level === 1 && (name === "id" || name === "method" || name === "jsonrpc");
    if (level === 1 && name === "error" && value.startsWith("{")) outline += errorOutline(value);
    else if (value.startsWith('"') && !isRead) outline += '""';
    else outline += value.startsWith("{") ? "{}" : value.startsWith("[") ? "[]" : value;
    i = end;
  }
}

/** An `error` is looked into; a malformed one may stand there if another with the same key comes after it. */
function errorOutline(value: string): string {
  const { outline } = outlineOf(value, 2);
  return isJson(outline) ? outline : "{}";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // the only thing that JSON.parse throws
  }
}

function endOfValue(text: string, from: number): number {
  for (let end = from + 1; end <= text.length; end++) {
    if (/^["[{]/.test(text[from] ?? "") ? isClosed(text.slice(from, end)) : /^[,}\s]?$/.test(text[end] ?? ""))
      return end;
  }
  return text.length;
}
