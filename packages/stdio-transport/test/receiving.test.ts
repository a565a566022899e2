import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createStreamTransport, type TransportLimits } from "../src/index.js";
import { bytes, createRecorder, failure, type Recorder, soon } from "./recorder.js";

/** What a transport tells of a stream that comes in these pieces. */
async function received(chunks: readonly Uint8Array[], limits: TransportLimits = {}): Promise<Recorder> {
  const readable = new PassThrough();
  const transport = createStreamTransport({ readable, writable: new PassThrough(), ...limits });
  const recorder = createRecorder();
  transport.start(recorder);
  for (const chunk of chunks) readable.write(chunk);
  readable.end();
  await soon(recorder.closed, "the close");
  return recorder;
}

const line = fc.oneof(
  fc.json().map((json) => Buffer.from(`{"a":${json}}`)),
  fc.uint8Array({ maxLength: 60 }).map((noise) => Buffer.from(noise.filter((byte) => byte !== 0x0a))),
  fc.integer({ min: 1_025, max: 3_000 }).map((size) => Buffer.from(`{"a":"${"x".repeat(size)}"}`)),
);
const lines = fc.array(line, { maxLength: 12 });
const cutPlaces = fc.array(fc.nat(4_000), { maxLength: 8 });

it("tells the same, in the order of the stream, however the bytes are cut", async () => {
  await fc.assert(
    fc.asyncProperty(lines, cutPlaces, async (all, cuts) => {
      const whole = Buffer.concat(all.flatMap((one) => [one, Buffer.from("\n")]));
      const places = [0, ...cuts.filter((cut) => cut < whole.length).toSorted((a, b) => a - b), whole.length];
      const parts = places.slice(1).map((place, index) => whole.subarray(places[index], place));
      const limits = { maxFrameBytes: 1_024 };
      const [cut, uncut] = await Promise.all([received(parts, limits), received([whole], limits)]);
      expect(cut.log).toEqual(uncut.log);
      expect(cut.frames).toEqual(uncut.frames);
      expect(cut.offsets).toEqual(uncut.offsets);
    }),
    { numRuns: 150 },
  );
});

it("tells of bad lines with their place and bytes, and goes on with the next", async () => {
  const good = '{"n":1}';
  const recorder = await received([
    bytes(`${good}\nnot json\n`),
    Uint8Array.of(0x7b, 0xff, 0x7d, 0x0a),
    Uint8Array.of(0xef, 0xbb, 0xbf),
    bytes(`${good}\r\n\n${good}\n`),
  ]);
  expect(recorder.log).toEqual([
    `frame ${good}`,
    "fault FRAME_NOT_JSON",
    "fault FRAME_NOT_UTF8",
    "fault FRAME_HAS_BOM",
    `frame ${good}`,
    "close",
  ]);
  expect(recorder.faults.map(({ offset }) => offset)).toEqual([8, 18, 21]);
  expect(Buffer.from(recorder.faultFrames[0]?.bytes ?? []).toString()).toBe("not json");
});

it("tells of a frame over the limit between the frames around it, as a fault where nobody asks for it", async () => {
  const large = bytes(`{"jsonrpc":"2.0","result":"${"x".repeat(2_000)}","id":7}\n`);
  const stream = [bytes('{"n":1}\n'), large, bytes('{"n":2}\n')];
  const asked = await received(stream, { maxFrameBytes: 1_024 });
  expect(asked.log).toEqual(['frame {"n":1}', `oversize ${large.length - 1}`, 'frame {"n":2}', "close"]);
  expect(asked.oversize[0]?.envelope).toEqual({ kind: "response", id: 7 });

  const readable = new PassThrough();
  const transport = createStreamTransport({ readable, writable: new PassThrough(), maxFrameBytes: 1_024 });
  const unasked = createRecorder();
  transport.start({ onFrame: unasked.onFrame, onFault: unasked.onFault, onClose: unasked.onClose });
  readable.end(Buffer.concat(stream));
  await soon(unasked.closed, "the close");
  expect(unasked.log).toEqual(['frame {"n":1}', "fault FRAME_TOO_LARGE", 'frame {"n":2}', "close"]);
  expect(unasked.faults[0]?.offset).toBe(8);
});

it("ends at a frame over the limit where it was told to fail", async () => {
  const stream = [bytes(`{"n":1}\n{"a":"${"x".repeat(2_000)}"}\n{"n":2}\n`)];
  const recorder = await received(stream, { maxFrameBytes: 1_024, oversize: "fail" });
  expect(recorder.log).toEqual(['frame {"n":1}', "fault FRAME_TOO_LARGE", "close"]);
});

it.each([
  { unterminated: "reject" as const, log: ['frame {"n":1}', "fault STREAM_TRUNCATED", "close"] },
  { unterminated: "accept" as const, log: ['frame {"n":1}', 'frame {"n":2}', "close"] },
])("takes a last line without line feed as it was told: $unterminated", async ({ unterminated, log }) => {
  expect((await received([bytes('{"n":1}\n{"n":2}')], { unterminated })).log).toEqual(log);
});

it("ends with the stream's own error, which is the cause for who sends, too", async () => {
  const readable = new PassThrough();
  const transport = createStreamTransport({ readable, writable: new PassThrough() });
  const recorder = createRecorder();
  transport.start(recorder);
  const error = new Error("broken");
  readable.destroy(error);
  expect(await soon(recorder.closed, "the close")).toBe(error);
  expect(await failure(transport.send(bytes("{}")))).toMatchObject({ code: "TRANSPORT_CLOSED", cause: error });
});

it.each(["before the start", "after the start"])("ends with a stream that was destroyed %s", async (when) => {
  const readable = new PassThrough();
  const transport = createStreamTransport({ readable, writable: new PassThrough() });
  const recorder = createRecorder();
  if (when === "before the start") readable.destroy();
  transport.start(recorder);
  readable.destroy();
  expect(await soon(recorder.closed, "the close")).toBeUndefined();
});

it("refuses a stream that decodes, and options that are unknown or out of range", () => {
  const streams = { readable: new PassThrough(), writable: new PassThrough() };
  const misspelled = { ...streams, maxFrameByte: 5_000 };
  for (const options of [
    { ...streams, readable: new PassThrough().setEncoding("utf8") },
    misspelled,
    { ...streams, maxFrameBytes: 1_023 },
    { ...streams, maxQueuedBytes: 1.5 },
  ]) {
    expect(() => createStreamTransport(options)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  }
});
