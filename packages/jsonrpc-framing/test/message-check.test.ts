import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Message, parseMessage, readMessage } from "../src/index.js";
import { messageText } from "./json-text.js";
import { judge } from "./oracle.js";
import { codeOf, thrown } from "./thrown.js";

const parse = (text: string, options = {}): Message => parseMessage(Buffer.from(text), options);

describe("readMessage", () => {
  it.each([
    {
      name: "a request",
      text: '{"jsonrpc":"2.0","id":1,"method":"a"}',
      message: { kind: "request", id: 1, method: "a" },
    },
    { name: "a request with id 0", text: '{"jsonrpc":"2.0","id":0,"method":"a"}', message: { kind: "request", id: 0 } },
    {
      name: "an empty string as id",
      text: '{"jsonrpc":"2.0","id":"","method":"a"}',
      message: { kind: "request", id: "" },
    },
    {
      name: "a string of digits as id",
      text: '{"jsonrpc":"2.0","id":"1","method":"a"}',
      message: { kind: "request", id: "1" },
    },
    {
      name: "an integer written as 1.0",
      text: '{"jsonrpc":"2.0","id":1.0,"method":"a"}',
      message: { kind: "request", id: 1 },
    },
    {
      name: "a notification",
      text: '{"jsonrpc":"2.0","method":"a","params":[1]}',
      message: { kind: "notification", params: [1] },
    },
    {
      name: "a response",
      text: '{"jsonrpc":"2.0","id":1,"result":null}',
      message: { kind: "response", id: 1, result: null },
    },
    {
      name: "an error",
      text: '{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":""}}',
      message: { kind: "error", id: "a" },
    },
    {
      name: "an error with id null",
      text: '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}',
      message: { kind: "error", id: undefined },
    },
    {
      name: "an error without id",
      text: '{"jsonrpc":"2.0","error":{"code":1,"message":"","data":[]}}',
      message: { kind: "error", id: undefined },
    },
    { name: "unknown members", text: '{"jsonrpc":"2.0","id":1,"method":"a","x":1}', message: { value: { x: 1 } } },
    {
      name: "a response with params",
      text: '{"jsonrpc":"2.0","id":1,"result":1,"params":3}',
      message: { kind: "response" },
    },
  ])("reads $name", ({ text, message }) => {
    expect(parse(text)).toMatchObject(message);
  });

  it.each([
    { name: "a batch", text: "[]", code: "BATCH_REFUSED", wire: -32600 },
    { name: "a batch of one", text: '[{"jsonrpc":"2.0","id":1,"method":"a"}]', code: "BATCH_REFUSED", wire: -32600 },
    { name: "a number", text: "1", code: "MESSAGE_INVALID", wire: -32600 },
    { name: "null", text: "null", code: "MESSAGE_INVALID", wire: -32600 },
    { name: "no version", text: '{"id":1,"method":"a"}', code: "MESSAGE_INVALID", wire: -32600, id: 1 },
    {
      name: "version 1.0",
      text: '{"jsonrpc":"1.0","id":1,"method":"a"}',
      code: "MESSAGE_INVALID",
      wire: -32600,
      id: 1,
    },
    {
      name: "version as number",
      text: '{"jsonrpc":2.0,"id":1,"method":"a"}',
      code: "MESSAGE_INVALID",
      wire: -32600,
      id: 1,
    },
    { name: "id null", text: '{"jsonrpc":"2.0","id":null,"method":"a"}', code: "ID_INVALID", wire: -32600 },
    { name: "id fraction", text: '{"jsonrpc":"2.0","id":1.5,"method":"a"}', code: "ID_INVALID", wire: -32600 },
    {
      name: "id beyond 2^53",
      text: '{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}',
      code: "ID_INVALID",
      wire: -32600,
    },
    { name: "id infinite", text: '{"jsonrpc":"2.0","id":1e400,"method":"a"}', code: "ID_INVALID", wire: -32600 },
    { name: "id boolean", text: '{"jsonrpc":"2.0","id":true,"method":"a"}', code: "ID_INVALID", wire: -32600 },
    { name: "id object", text: '{"jsonrpc":"2.0","id":{},"result":1}', code: "ID_INVALID", wire: -32600 },
    { name: "a response without id", text: '{"jsonrpc":"2.0","result":1}', code: "ID_INVALID", wire: -32600 },
    {
      name: "a response with id null",
      text: '{"jsonrpc":"2.0","id":null,"result":1}',
      code: "ID_INVALID",
      wire: -32600,
    },
    {
      name: "result and error",
      text: '{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}',
      code: "MESSAGE_INVALID",
      wire: -32600,
    },
    {
      name: "method and result",
      text: '{"jsonrpc":"2.0","id":1,"method":"a","result":1}',
      code: "MESSAGE_INVALID",
      wire: -32600,
    },
    {
      name: "method and error",
      text: '{"jsonrpc":"2.0","id":1,"method":"a","error":null}',
      code: "MESSAGE_INVALID",
      wire: -32600,
    },
    { name: "neither", text: '{"jsonrpc":"2.0","id":1}', code: "MESSAGE_INVALID", wire: -32600, id: 1 },
    {
      name: "method not a string",
      text: '{"jsonrpc":"2.0","id":1,"method":1}',
      code: "MESSAGE_INVALID",
      wire: -32600,
      id: 1,
    },
    {
      name: "method empty",
      text: '{"jsonrpc":"2.0","id":1,"method":""}',
      code: "MESSAGE_INVALID",
      wire: -32600,
      id: 1,
    },
    {
      name: "params a string",
      text: '{"jsonrpc":"2.0","id":1,"method":"a","params":"b"}',
      code: "MESSAGE_INVALID",
      wire: -32600,
      id: 1,
    },
    {
      name: "params null",
      text: '{"jsonrpc":"2.0","id":1,"method":"a","params":null}',
      code: "MESSAGE_INVALID",
      wire: -32600,
      id: 1,
    },
    { name: "error a string", text: '{"jsonrpc":"2.0","id":1,"error":"no"}', code: "MESSAGE_INVALID", wire: -32600 },
    {
      name: "error without message",
      text: '{"jsonrpc":"2.0","id":1,"error":{"code":1}}',
      code: "MESSAGE_INVALID",
      wire: -32600,
    },
    {
      name: "error with a fraction as code",
      text: '{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}',
      code: "MESSAGE_INVALID",
      wire: -32600,
    },
    { name: "no JSON", text: '{"jsonrpc":"2.0","id":1,"method":"a"', code: "FRAME_NOT_JSON", wire: -32700 },
    { name: "nothing", text: "", code: "FRAME_NOT_JSON", wire: -32700 },
    { name: "a byte order mark", text: "\ufeff{}", code: "FRAME_HAS_BOM", wire: -32700 },
  ])("refuses $name", ({ text, code, wire, id }) => {
    expect(thrown(() => parse(text))).toMatchObject({ code, wireCode: wire, requestId: id });
  });

  it("refuses bytes that are not UTF-8, where JSON.parse would have replaced them", () => {
    expect(codeOf(() => parseMessage(Buffer.from('{"jsonrpc":"2.0","method":"\xe9"}', "latin1")))).toBe(
      "FRAME_NOT_UTF8",
    );
  });

  it("says where the text stops being JSON, and does not quote it", () => {
    const error = thrown(() => parse('{"token":"hunter2"x}'));
    expect(error).toMatchObject({ code: "FRAME_NOT_JSON", offset: 18 });
    expect(`${error.message}${String(error.cause)}`).not.toContain("hunter2");
  });

  it("agrees with a second reading of the specification on any text", () => {
    fc.assert(
      fc.property(messageText, (text) => {
        const verdict = judge(text, true);
        if ("code" in verdict) {
          expect(codeOf(() => parse(text))).toBe(verdict.code);
          return;
        }
        const message = parse(text);
        expect(message.kind).toBe(verdict.kind);
        expect(message.kind === "notification" ? undefined : message.id).toBe(verdict.id);
        expect(new Map(Object.entries(message.value))).toEqual(verdict.value);
      }),
      { numRuns: 3000 },
    );
  });

  it("looks at own members only", () => {
    const inherited: object = Object.create({ method: "a" });
    expect(codeOf(() => readMessage(Object.assign(inherited, { jsonrpc: "2.0", id: 1 })))).toBe("MESSAGE_INVALID");
    expect(codeOf(() => parse('{"__proto__":{"method":"a"},"jsonrpc":"2.0","id":1}'))).toBe("MESSAGE_INVALID");
  });

  it("limits nesting where it is told to, the message being the first level", () => {
    const nested = (levels: number): string =>
      `{"jsonrpc":"2.0","id":4,"method":"a","params":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect(codeOf(() => parse(nested(128)))).toBe("none");
    expect(thrown(() => parse(nested(129)))).toMatchObject({ code: "JSON_TOO_DEEP", wireCode: -32600, requestId: 4 });
    expect(codeOf(() => parse(nested(3), { maxDepth: 3 }))).toBe("none");
    expect(codeOf(() => parse(nested(4), { maxDepth: 3 }))).toBe("JSON_TOO_DEEP");
    expect(codeOf(() => parse(nested(1_000_000), { maxDepth: 10_000 }))).toBe("JSON_TOO_DEEP");
    expect(() => parse(nested(2), { maxDepth: 0 })).toThrow(RangeError);
  });

  it.each([
    { name: "at the top", text: '{"jsonrpc":"2.0","method":"a","method":"a"}' },
    { name: "deep inside", text: '{"jsonrpc":"2.0","method":"a","params":[{"x":{"k":1,"l":2,"k":1}}]}' },
    { name: "spelled in two ways", text: '{"jsonrpc":"2.0","method":"a","params":{"k":1,"\\u006b":1}}' },
  ])("takes the last of equal keys, or refuses them when told to: $name", ({ text }) => {
    expect(parse(text).kind).toBe("notification");
    expect(thrown(() => parse(text, { duplicateKeys: "refuse" }))).toMatchObject({
      code: "DUPLICATE_KEY",
      wireCode: -32600,
    });
  });

  it.each([
    {
      name: "deep in its parameters",
      text: '{"jsonrpc":"2.0","id":7,"method":"a","params":{"k":1,"k":1}}',
      requestId: 7,
    },
    { name: "of its envelope", text: '{"jsonrpc":"2.0","id":"x","method":"a","method":"a"}', requestId: "x" },
    { name: "that is its id", text: '{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}', requestId: undefined },
    { name: "of an answer", text: '{"jsonrpc":"2.0","id":1,"result":{"k":1,"k":1}}', requestId: undefined },
  ])("names the request that it refuses for a key $name", ({ text, requestId }) => {
    const error = thrown(() => parse(text, { duplicateKeys: "refuse" }));
    expect(error).toMatchObject({ code: "DUPLICATE_KEY", requestId, offset: expect.any(Number) });
  });

  it("overlooks no key that is there twice, and takes no colon in a string for one", () => {
    const key = fc.constantFrom("a", "b", "c:", '"', "", "__proto__", "constructor");
    const member = fc.tuple(key, fc.jsonValue({ maxDepth: 2 }));
    fc.assert(
      fc.property(fc.array(member, { maxLength: 6 }), fc.boolean(), (members, nested) => {
        const object = `{${members.map(([name, value]) => `${JSON.stringify(name)} : ${JSON.stringify(value)}`).join(",")}}`;
        const params = nested ? `{"x:":[1,${object},": "]}` : object;
        const repeats = new Set(members.map(([name]) => name)).size < members.length;
        const code = codeOf(() =>
          parse(`{"jsonrpc":"2.0","method":"a","params":${params}}`, { duplicateKeys: "refuse" }),
        );
        expect(code).toBe(repeats ? "DUPLICATE_KEY" : "none");
      }),
      { numRuns: 2000 },
    );
  });

  it("does not take equal keys of different objects for duplicates", () => {
    const text = '{"jsonrpc":"2.0","method":"a","params":{"a":{"b":1},"b":[{"b":1},{"b":1}]}}';
    expect(codeOf(() => parse(text, { duplicateKeys: "refuse" }))).toBe("none");
  });

  it("keeps __proto__ as data, or refuses it when told to, however it is written", () => {
    for (const key of ["__proto__", "\\u005f_proto__"]) {
      const text = `{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[{"${key}":{"polluted":true}}]}}`;
      expect(JSON.stringify(parse(text).value)).toContain("__proto__");
      expect(codeOf(() => parse(text, { protoKeys: "refuse" }))).toBe("PROTO_KEY");
    }
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  it("refuses params as an array where only an object will do", () => {
    const text = '{"jsonrpc":"2.0","id":7,"method":"a","params":[]}';
    expect(thrown(() => parse(text, { params: "object" }))).toMatchObject({
      code: "PARAMS_INVALID",
      wireCode: -32602,
      requestId: 7,
    });
    expect(codeOf(() => parse('{"jsonrpc":"2.0","id":7,"result":1,"params":[]}', { params: "object" }))).toBe("none");
  });
});
