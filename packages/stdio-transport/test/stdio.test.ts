import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough, type Readable, Writable } from "node:stream";
import { expect, it } from "vitest";
import { createStreamTransport } from "../src/index.js";
import { bytes, createRecorder, failure, soon } from "./recorder.js";
import { transportContract } from "./transport.contract.js";

/** `cat` is the other end: a real process at real pipes that sends each byte back. */
const cat = (): ChildProcessByStdio<Writable, Readable, null> =>
  spawn("cat", [], { stdio: ["pipe", "pipe", "inherit"] });

transportContract("the pipes of a process", async (limits) => {
  const child = cat();
  child.stdin.on("error", () => undefined); // the caller's own listener: a killed cat is no fault of the test
  const transport = createStreamTransport({ readable: child.stdout, writable: child.stdin, ...limits });
  return {
    transport,
    stall: () => void child.kill("SIGSTOP"),
    unstall: () => void child.kill("SIGCONT"),
    dispose: async () => {
      await transport.close();
      const gone = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
      child.kill("SIGKILL");
      await gone;
    },
  };
});

it("leaves the caller's streams open and without its listeners", async () => {
  const [readable, writable] = [new PassThrough(), new PassThrough()];
  const counted = (): number[] =>
    [readable, writable].map((stream) =>
      stream.eventNames().reduce((sum, name) => sum + stream.listenerCount(name), 0),
    );
  const before = counted();
  const transport = createStreamTransport({ readable, writable });
  transport.start(createRecorder());
  await transport.send(bytes("{}"));
  await transport.close();
  expect(counted()).toEqual(before);
  expect([readable.destroyed, writable.destroyed, writable.writableEnded]).toEqual([false, false, false]);
});

it("writes the frames of one tick with one write", async () => {
  const writes: string[] = [];
  const writable = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      writes.push(chunk.toString());
      done();
    },
  });
  const transport = createStreamTransport({ readable: new PassThrough(), writable });
  transport.start(createRecorder());
  await Promise.all(["1", "2", "3"].map((id) => transport.send(bytes(`{"id":${id}}`))));
  expect(writes.join("")).toBe('{"id":1}\n{"id":2}\n{"id":3}\n');
  expect(writes.length).toBeLessThanOrEqual(2); // the first may leave at once
  await transport.close();
});

it("adds one listener however many senders wait, and refuses what its queue cannot hold", async () => {
  const child = cat();
  child.kill("SIGSTOP");
  const transport = createStreamTransport({ readable: child.stdout, writable: child.stdin, maxQueuedBytes: 1_048_576 });
  transport.start(createRecorder());
  const frame = bytes(`{"a":"${"x".repeat(65_536)}"}`);
  const sends = Array.from({ length: 15 }, () => transport.send(frame).catch((error: unknown) => error));
  expect(child.stdin.listenerCount("drain")).toBeLessThanOrEqual(1);
  expect(child.stdin.listenerCount("error")).toBeLessThanOrEqual(2);
  expect(await failure(transport.send(bytes(`{"a":"${"x".repeat(131_072)}"}`)))).toMatchObject({ code: "QUEUE_FULL" });
  const pipeClosed = new Promise<void>((resolve) => child.stdin.once("close", resolve)); // `once` of node:events would reject at EPIPE
  child.kill("SIGKILL");
  await soon(Promise.all(sends), "the end of every send");
  await soon(pipeClosed, "the end of the write that was under way");
  expect(transport.queuedBytes).toBe(0);
  await transport.close();
});
