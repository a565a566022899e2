// The contract in short, on every Node that the package promises to run on.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import {
  checkFrame,
  createHeaderDecoder,
  createLineDecoder,
  createPendingCalls,
  encodeHeaderFrame,
  encodeLine,
  isFramingError,
  parseMessage,
  readMember,
  readScalar,
  replaceId,
  scanEnvelope,
  splitArray,
} from "@berth/jsonrpc-framing";

const bytes = (text) => Buffer.from(text);
const text = (frame) => Buffer.from(frame).toString();
const one = (value) => [...value].map((byte) => Uint8Array.of(byte));

test("lines are the same however they are cut", () => {
  const stream = bytes('{"a":"é漢😀\\n"}\r\n\n{"b":1}\n');
  for (let at = 0; at <= stream.length; at++) {
    const decoder = createLineDecoder();
    const frames = [stream.subarray(0, at), stream.subarray(at)].flatMap((chunk) => decoder.push(chunk));
    assert.deepEqual(decoder.end(), []);
    assert.deepEqual(
      frames.map((frame) => [frame.offset, text(frame.bytes)]),
      [
        [0, '{"a":"é漢😀\\n"}'],
        [22, '{"b":1}'],
      ],
    );
  }
});

test("a line over the limit is skipped, and named although its id comes last", () => {
  const skipped = [];
  const decoder = createLineDecoder({
    maxFrameBytes: 20,
    oversize: "skip",
    onOversize: (frame) => skipped.push(frame),
  });
  const long = '{"result":{"id":[1,{"}":"\\""}]},"jsonrpc":"2.0","id":5}';
  const frames = one(bytes(`${long}\n{"b":1}\n`)).flatMap((chunk) => decoder.push(chunk));
  assert.deepEqual(
    frames.map((frame) => text(frame.bytes)),
    ['{"b":1}'],
  );
  assert.deepEqual(
    skipped.map((frame) => frame.envelope),
    [{ kind: "response", id: 5 }],
  );
});

test("faults have codes, places, and what came whole before them", () => {
  const decoder = createLineDecoder({ maxFrameBytes: 10 });
  assert.throws(
    () => decoder.push(bytes(`{}\n${"x".repeat(11)}`)),
    (error) =>
      isFramingError(error) && error.code === "FRAME_TOO_LARGE" && error.offset === 3 && error.frames.length === 1,
  );
  assert.equal(checkFrame({ bytes: Uint8Array.of(0x7b, 0xff, 0x7d), offset: 5 })?.offset, 6);
  assert.equal(checkFrame({ bytes: bytes("\ufeff{}"), offset: 0 })?.code, "FRAME_HAS_BOM");
  assert.equal(checkFrame({ bytes: bytes("hello"), offset: 0 })?.code, "FRAME_NOT_JSON");
});

test("Content-Length frames go both ways", () => {
  const decoder = createHeaderDecoder();
  const frames = one(encodeHeaderFrame({ text: "é\n" })).flatMap((chunk) => decoder.push(chunk));
  assert.deepEqual(
    frames.map((frame) => JSON.parse(text(frame.bytes))),
    [{ text: "é\n" }],
  );
  assert.throws(() => decoder.push(bytes("Content-Length: 12abc\r\n\r\n")), { code: "HEADER_INVALID" });
});

test("messages are checked, with the code for the answer", () => {
  assert.equal(parseMessage(bytes('{"jsonrpc":"2.0","id":1,"method":"m"}')).kind, "request");
  assert.throws(() => parseMessage(bytes("[]")), { code: "BATCH_REFUSED", wireCode: -32600 });
  assert.throws(() => parseMessage(bytes('{"jsonrpc":"2.0","id":null,"method":"m"}')), { code: "ID_INVALID" });
  assert.throws(() => parseMessage(bytes("{")), { code: "FRAME_NOT_JSON", wireCode: -32700 });
  assert.throws(() => encodeLine("{\n}"), { code: "FRAME_HAS_NEWLINE" });
});

test("an envelope is found and its id replaced, all other bytes kept", () => {
  const frame = bytes(
    '{"n":12345678901234567890, "id":9,"params":{"_meta":{"progressToken":1.0},"x":[1,"]"]},"method":"m","\\u0069d":"a","jsonrpc":"2.0"}',
  );
  const envelope = scanEnvelope(frame, ["_meta", "x"]);
  assert.deepEqual([envelope.kind, envelope.id.value, envelope.method], ["request", "a", "m"]);
  const token = readMember(frame, envelope.members.get("_meta"), ["progressToken"]);
  assert.equal(readScalar(frame, token), 1);
  assert.equal(splitArray(frame, envelope.members.get("x")).length, 2);
  assert.equal(text(replaceId(frame, envelope, 7)), text(frame).replace('"a"', "7"));
  assert.throws(() => scanEnvelope(bytes('{"jsonrpc":"2.0","id":1,"result":[}}')), { code: "FRAME_NOT_JSON" });
});

test("calls are settled by id and type, time out, and are quiet about what comes late", async () => {
  const calls = createPendingCalls({ timeoutMs: 60_000 });
  const answered = calls.register(1);
  assert.deepEqual(
    [calls.settle("1", "a"), calls.settle(1, "a"), calls.settle(1, "b")],
    ["unknown", "settled", "late"],
  );
  assert.equal(await answered, "a");
  await assert.rejects(calls.register(2, { timeoutMs: 1 }), { code: "CALL_TIMEOUT" });
  const reason = new Error("no longer wanted");
  const aborter = new AbortController();
  const aborted = calls.register(3, { signal: aborter.signal });
  aborter.abort(reason);
  await assert.rejects(aborted, reason);
  const closed = calls.register(4);
  calls.close(reason);
  await assert.rejects(closed, reason);
  await assert.rejects(calls.register(5), { code: "CALLS_CLOSED", cause: reason });
});

test("require loads it as well", () => {
  assert.equal(createRequire(import.meta.url)("@berth/jsonrpc-framing").wireErrors.parse, -32700);
});
