import { PassThrough, Writable } from "node:stream";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createStreamTransport, type Transport } from "../src/index.js";
import { bytes, createRecorder, failure, soon } from "./recorder.js";

/** A stream whose writes are completed by the test, and a transport over it. */
function openSlow(
  maxQueuedBytes?: number,
  eagerBytes?: number,
): {
  readonly transport: Transport;
  readonly readable: PassThrough;
  readonly writable: Writable;
  readonly writes: readonly string[];
  complete(error?: Error): void;
} {
  const writes: string[] = [];
  const callbacks: ((error?: Error) => void)[] = [];
  const writable = new Writable({
    write: (chunk, _encoding, callback) => {
      writes.push(String(chunk));
      callbacks.push(callback);
    },
  });
  const readable = new PassThrough();
  const transport = createStreamTransport({ readable, writable, maxQueuedBytes, eagerBytes });
  return { transport, readable, writable, writes, complete: (error) => callbacks.shift()?.(error) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("joins what one tick sends, in writes of a few kilobytes", async () => {
  const { transport, writes, complete } = openSlow();
  const frames = Array.from({ length: 100 }, (_, index) => `{"n":${index}}`);
  const sends = frames.map((frame) => transport.send(bytes(frame)));
  await turn();
  expect(writes).toEqual([frames.map((frame) => `${frame}\n`).join("")]);
  complete();
  await soon(Promise.all(sends), "the sends");

  const more = Array.from({ length: 100 }, () => transport.send(bytes(`{"a":"${"x".repeat(100)}"}`)));
  await turn();
  expect(writes).toHaveLength(2);
  complete();
  await turn();
  complete();
  await soon(Promise.all(more), "the rest");
  expect(writes).toHaveLength(3);
});

it("holds nothing back where frames are to leave at once, and writes in order all the same", async () => {
  const { transport, writes, complete } = openSlow(undefined, 0);
  const sends = ["1", "2", "3"].map((frame) => transport.send(bytes(frame)));
  expect(writes).toEqual(["1\n"]);
  complete();
  await turn();
  expect(writes).toEqual(["1\n", "2\n3\n"]);
  complete();
  await soon(Promise.all(sends), "the sends");
});

it("settles nothing before the stream has taken it, and writes nothing while a write is under way", async () => {
  const { transport, writes, complete } = openSlow();
  let settled = 0;
  const first = transport.send(bytes('{"n":1}')).then(() => settled++);
  await turn();
  const second = transport.send(bytes('{"n":2}')).then(() => settled++);
  await turn();
  expect({ writes: writes.length, settled, queued: transport.queuedBytes }).toEqual({
    writes: 1,
    settled: 0,
    queued: 16,
  });
  complete();
  await first;
  expect({ writes: writes.length, settled }).toEqual({ writes: 2, settled: 1 });
  complete();
  await second;
  expect(transport.queuedBytes).toBe(0);
});

it("still counts an aborted frame that is under way, so that the bound holds", async () => {
  const { transport, complete } = openSlow(1_024);
  const controller = new AbortController();
  const sent = failure(transport.send(bytes(`{"a":"${"x".repeat(900)}"}`), { signal: controller.signal }));
  await turn();
  controller.abort("given up");
  expect(await sent).toBe("given up");
  expect(await failure(transport.send(bytes(`{"a":"${"x".repeat(200)}"}`)))).toMatchObject({ code: "QUEUE_FULL" });
  complete();
  await turn();
  expect(transport.queuedBytes).toBe(0);
});

it("rejects what a failing stream did not take, and all that comes later, and lets receiving go on", async () => {
  const { transport, readable, complete } = openSlow();
  const recorder = createRecorder();
  transport.start(recorder);
  const failures = [failure(transport.send(bytes("{}"))), failure(transport.send(bytes("{}")))];
  await turn();
  const broken = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
  complete(broken);
  for (const outcome of await soon(Promise.all(failures), "the failures")) {
    expect(outcome).toMatchObject({ code: "TRANSPORT_CLOSED", cause: broken });
  }
  expect(await failure(transport.send(bytes("{}")))).toMatchObject({ code: "TRANSPORT_CLOSED" });
  readable.write('{"still":1}\n');
  await recorder.framesCame(1);
  await transport.close();
});

it("lets a write that is under way end before it lets go of the stream", async () => {
  const { transport, writable, complete } = openSlow();
  const sent = failure(transport.send(bytes("{}")));
  await turn();
  await transport.close();
  expect(await sent).toMatchObject({ code: "TRANSPORT_CLOSED" });
  expect(writable.listenerCount("error")).toBe(1);
  complete();
  await turn();
  expect(writable.listenerCount("error")).toBe(0);
});

it("keeps every byte, of frames that are copied and of those that are written as they are", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(40_000), { minLength: 1, maxLength: 20 }), async (sizes) => {
      const output = new PassThrough();
      const transport = createStreamTransport({ readable: new PassThrough(), writable: output });
      const seen: Buffer[] = [];
      output.on("data", (chunk: Buffer) => seen.push(chunk));
      const sent = sizes.map((size, index) => Buffer.alloc(size, 0x61 + (index % 26)));
      await Promise.all(sent.map((frame) => transport.send(frame)));
      await turn();
      const expected = Buffer.concat(sent.flatMap((frame) => [frame, Buffer.from("\n")]));
      expect(Buffer.concat(seen).equals(expected)).toBe(true);
      await transport.close();
    }),
    { numRuns: 50 },
  );
});
