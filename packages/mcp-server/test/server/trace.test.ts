import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RequestEvent } from "../../src/index.js";
import { readTrace } from "../../src/server/trace.js";
import { openClient } from "../support/client.js";
import { sampleServer, sampleTools } from "../support/sample.js";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const parentId = "b7ad6b7169203331";
const valid = `00-${traceId}-${parentId}-01`;
const read = (traceparent: unknown, more: { [key: string]: string } = {}): ReturnType<typeof readTrace> =>
  readTrace(JSON.parse(JSON.stringify({ traceparent, ...more })), undefined);

// After the cases of the W3C's own test suite (w3c/trace-context, test/test.py).
describe("a traceparent", () => {
  it.each([
    { name: "sampled", value: valid, flags: 1 },
    { name: "not sampled", value: `00-${traceId}-${parentId}-00`, flags: 0 },
    { name: "with flags that nobody knows", value: `00-${traceId}-${parentId}-ff`, flags: 255 },
    { name: "of a later version", value: `cc-${traceId}-${parentId}-01`, flags: 1 },
    {
      name: "of a later version, with more",
      value: `cc-${traceId}-${parentId}-01-what-the-future-will-be-like`,
      flags: 1,
    },
  ])("is read: $name", ({ value, flags }) => {
    expect(read(value)).toMatchObject({ traceId, parentId, flags, source: "meta" });
  });

  it.each([
    { name: "no text", value: 7 },
    { name: "empty", value: "" },
    { name: "version ff", value: `ff-${traceId}-${parentId}-01` },
    { name: "version in upper case", value: `0A-${traceId}-${parentId}-01` },
    { name: "version of three digits", value: `000-${traceId}-${parentId}-01` },
    { name: "more after version 00", value: `${valid}-what` },
    { name: "a dash after version 00", value: `${valid}-` },
    { name: "more after a later version without a dash", value: `cc-${traceId}-${parentId}-01.what` },
    { name: "two of them, joined as HTTP joins headers", value: `${valid}, ${valid}` },
    { name: "trace id all zero", value: `00-${"0".repeat(32)}-${parentId}-01` },
    { name: "trace id in upper case", value: `00-${traceId.toUpperCase()}-${parentId}-01` },
    { name: "trace id too short", value: `00-${traceId.slice(1)}-${parentId}-01` },
    { name: "parent id all zero", value: `00-${traceId}-${"0".repeat(16)}-01` },
    { name: "parent id too long", value: `00-${traceId}-${parentId}0-01` },
    { name: "flags that are no digits", value: `00-${traceId}-${parentId}-.1` },
    { name: "spaces around", value: ` ${valid} ` },
    { name: "a line feed after", value: `${valid}\n` },
    { name: "too long", value: `cc-${traceId}-${parentId}-01-${"x".repeat(512)}` },
  ])("counts as absent: $name", ({ value }) => {
    expect(read(value)).toBeUndefined();
  });
});

describe("the lists beside it", () => {
  it.each([
    { name: "one member", value: "rojo=00f067aa0ba902b7" },
    { name: "spaces between", value: "foo=1 , \t bar=2" },
    { name: "empty members", value: "foo=1,,bar=2," },
    { name: "all that a key may hold", value: "a0_-*/@b=1,0c@d=x" },
    { name: "32 members", value: Array.from({ length: 32 }, (_, at) => `k${at}=v`).join(",") },
    { name: "a value with a space inside", value: "foo=a b" },
  ])("tracestate is kept: $name", ({ value }) => {
    expect(read(valid, { tracestate: value })?.tracestate).toBe(value);
  });

  it.each([
    { name: "33 members", value: Array.from({ length: 33 }, (_, at) => `k${at}=v`).join(",") },
    { name: "a key in upper case", value: "Foo=1" },
    { name: "a key that is too long", value: `${"z".repeat(257)}=1` },
    { name: "no value", value: "foo=" },
    { name: "two signs", value: "foo=a=b" },
    { name: "a value that is too long", value: `foo=${"v".repeat(257)}` },
    { name: "not ASCII", value: "foo=grün" },
    { name: "a control character", value: "foo=a\u0007b" },
    {
      name: "all too long",
      value: Array.from({ length: 31 }, (_, at) => `k${at}=${"v".repeat(256)}`).join(" ,") + " ".repeat(500),
    },
  ])("tracestate is dropped, and the parent kept: $name", ({ value }) => {
    expect(read(valid, { tracestate: value })).toMatchObject({ traceId, tracestate: undefined });
  });

  it.each([
    { name: "members", value: "userId=alice,serverNode=DF%2028,isProduction=false", kept: true },
    {
      name: "properties",
      value: "key1=value1;property1;property2, key2 = value2, key3=value3; propertyKey=propertyValue",
      kept: true,
    },
    { name: "an empty value", value: "a=", kept: true },
    { name: "no sign", value: "alice", kept: false },
    { name: "a quote in a value", value: 'a="b"', kept: false },
    { name: "a backslash", value: "a=b\\c", kept: false },
    { name: "181 members", value: Array.from({ length: 181 }, (_, at) => `k${at}=v`).join(","), kept: false },
    { name: "more than 8,192 characters", value: `a=${"b".repeat(8_192)}`, kept: false },
  ])("baggage: $name", ({ value, kept }) => {
    expect(read(valid, { baggage: value })?.baggage).toBe(kept ? value : undefined);
  });

  it("are not looked at without a parent", () => {
    expect(read("00-bad", { tracestate: "foo=1", baggage: "a=b" })).toBeUndefined();
  });

  it("are read in time that grows with their length, whatever is in them", () => {
    const pieces = fc.constantFrom("a", "=", ";", ",", " ", "\t", "%20", "ü", "-", "~");
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 4_000 }), (parts) => {
        const startedAt = performance.now();
        read(valid, { tracestate: parts.join(""), baggage: parts.join("") });
        expect(performance.now() - startedAt).toBeLessThan(500);
      }),
      { numRuns: 100 },
    );
    for (const hostile of [
      " ".repeat(8_000),
      `a=${"b ".repeat(4_000)}`,
      "a=b;".repeat(2_000),
      `${"\t=".repeat(4_000)}`,
    ]) {
      const startedAt = performance.now();
      read(valid, { tracestate: hostile, baggage: hostile });
      expect(performance.now() - startedAt).toBeLessThan(500);
    }
  });
});

describe("where a trace comes from", () => {
  const headers: Readonly<Record<string, string>> = {
    traceparent: `00-${"f".repeat(32)}-${parentId}-00`,
    tracestate: "http=1",
  };
  const ofHttp = (name: string): string | undefined => headers[name];

  it("is the message, before the headers", () => {
    expect(readTrace({ traceparent: valid }, ofHttp)).toMatchObject({ traceId, source: "meta", tracestate: undefined });
  });

  it("is the headers when the message has no valid one", () => {
    const expected = { traceId: "f".repeat(32), source: "http", tracestate: "http=1" };
    expect(readTrace({}, ofHttp)).toMatchObject(expected);
    expect(readTrace({ traceparent: "nonsense", tracestate: "meta=1" }, ofHttp)).toMatchObject(expected);
  });

  it("reaches observers and handlers, in both eras", async () => {
    const events: RequestEvent<string>[] = [];
    const seen: unknown[] = [];
    const [echo] = sampleTools;
    const server = sampleServer({
      observers: [(event) => void events.push(event)],
      tools: echo === undefined ? [] : [{ ...echo, handler: ({ trace }) => String(seen.push(trace)) }],
    });
    const call = { name: "echo", arguments: { text: "x" } };
    await openClient(server).askModern(
      "tools/call",
      call,
      {},
      { traceparent: valid, tracestate: "a=1", baggage: "b=2" },
    );
    const legacy = openClient(server);
    await legacy.initialize();
    await legacy.ask("tools/call", { ...call, _meta: { traceparent: valid } });
    await legacy.ask("tools/call", call);
    expect(events.map(({ trace }) => trace?.traceId)).toEqual([traceId, undefined, traceId, undefined]);
    expect(events[0]?.trace).toMatchObject({ parentId, flags: 1, tracestate: "a=1", baggage: "b=2" });
    expect(seen).toEqual([events[0]?.trace, events[2]?.trace, undefined]);
  });

  it("is not the message's when that is no object", async () => {
    const server = sampleServer();
    const connection = server.openConnection({ send: () => undefined });
    const message = { jsonrpc: "2.0", id: 1, method: "ping", params: { _meta: [valid] } };
    expect(await server.handle(message, { principal: "ada", connection })).toMatchObject({ id: 1 });
  });
});
