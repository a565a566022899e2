import { afterEach, describe, expect, it } from "vitest";
import type { Transport, TransportLimits } from "../src/index.js";
import { bytes, createRecorder, failure, soon } from "./recorder.js";

/** One end under test; whatever is at the other end sends each frame back. */
export interface EchoedEnd {
  readonly transport: Transport;
  /** Makes the other end stop reading, as a process that was stopped. */
  stall(): void;
  unstall(): void;
  /** Ends what the test made. */
  dispose(): Promise<void>;
}

/** What holds for every Transport, whatever it runs over. */
export function transportContract(name: string, open: (limits: TransportLimits) => Promise<EchoedEnd>): void {
  describe(`the Transport contract over ${name}`, () => {
    const ends: EchoedEnd[] = [];
    const opened = async (limits: TransportLimits = {}): Promise<EchoedEnd> => {
      const end = await open(limits);
      ends.push(end);
      return end;
    };
    afterEach(async () => {
      for (const end of ends.splice(0)) await end.dispose();
    });

    it("delivers frames whole, in call order, with their place in the stream", async () => {
      const { transport } = await opened();
      const recorder = createRecorder();
      transport.start(recorder);
      const sent = Array.from({ length: 200 }, (_, index) => JSON.stringify({ index, text: "ü".repeat(index) }));
      await Promise.all(sent.map((text) => transport.send(bytes(text))));
      await recorder.framesCame(sent.length);
      expect(recorder.frames).toEqual(sent);
      let offset = 0;
      const offsets = sent.map((text) => {
        const start = offset;
        offset += Buffer.byteLength(text) + 1;
        return start;
      });
      expect(recorder.offsets).toEqual(offsets);
      expect(transport.queuedBytes).toBe(0);
    });

    it("carries a frame of many times the size of a pipe", async () => {
      const { transport } = await opened();
      const recorder = createRecorder();
      transport.start(recorder);
      const text = JSON.stringify("x".repeat(5_000_000)).replace(/^"(.*)"$/, '{"text":"$1"}');
      await transport.send(bytes(text));
      await recorder.framesCame(1);
      expect(recorder.frames[0] === text).toBe(true);
    });

    it("refuses frames that are too large or hold a line feed, and sends nothing of them", async () => {
      const { transport } = await opened({ maxFrameBytes: 1_024 });
      const recorder = createRecorder();
      transport.start(recorder);
      const largest = `{"a":"${"x".repeat(1_024 - 8)}"}`;
      const refused = [
        failure(transport.send(bytes(`${largest} `))),
        failure(transport.send(bytes('{"a":\n1}'))),
        transport.send(bytes(largest)),
      ];
      const codes = await Promise.all(refused);
      expect(codes).toMatchObject([{ code: "FRAME_TOO_LARGE" }, { code: "FRAME_HAS_NEWLINE" }, undefined]);
      await recorder.framesCame(1);
      expect(recorder.frames).toEqual([largest]);
    });

    it("bounds what waits to be sent, and lets `send` wait for the system", async () => {
      const end = await opened({ maxFrameBytes: 65_536, maxQueuedBytes: 1_048_576 });
      end.transport.start(createRecorder());
      end.stall();
      const frame = bytes(`{"a":"${"x".repeat(65_000)}"}`);
      const sends: Promise<void>[] = [];
      while (end.transport.queuedBytes + frame.length < 1_048_576 && sends.length < 100) {
        sends.push(end.transport.send(frame));
        await new Promise(setImmediate);
      }
      expect(sends.length).toBeLessThan(100);
      expect(await failure(end.transport.send(frame))).toMatchObject({ code: "QUEUE_FULL" });
      expect(end.transport.queuedBytes).toBeLessThanOrEqual(1_048_576);
      end.unstall();
      await soon(Promise.all(sends), "the waiting frames");
      expect(end.transport.queuedBytes).toBe(0);
    });

    it("takes an aborted frame back wholly, or sends it wholly", async () => {
      const end = await opened();
      const recorder = createRecorder();
      end.transport.start(recorder);
      end.stall();
      const controllers = Array.from({ length: 60 }, () => new AbortController());
      const text = (index: number): string => `{"index":${index},"a":"${"x".repeat(50_000)}"}`;
      const outcomes = controllers.map(({ signal }, index) =>
        end.transport.send(bytes(text(index)), { signal }).then(
          () => "sent",
          (reason: unknown) => reason,
        ),
      );
      await new Promise(setImmediate);
      for (const controller of controllers.slice(0, 59)) controller.abort("given up");
      end.unstall();
      const results = await soon(Promise.all(outcomes), "all outcomes");
      expect(results.every((result) => result === "sent" || result === "given up")).toBe(true);
      expect(results.at(-1)).toBe("sent");
      await end.transport.send(bytes('{"last":true}'));
      const isLast = (): boolean => recorder.frames.at(-1) === '{"last":true}';
      for (let count = 1; !isLast(); count++) await recorder.framesCame(count);
      const whole = new Set(controllers.map((_, index) => text(index)));
      expect(recorder.frames.slice(0, -1).every((frame) => whole.has(frame))).toBe(true);
      expect(recorder.frames.length).toBeLessThan(61);
      expect(recorder.faults).toEqual([]);
    });

    it("rejects with the signal's own reason when it was aborted before", async () => {
      const { transport } = await opened();
      transport.start(createRecorder());
      const reason = new Error("too late");
      expect(await failure(transport.send(bytes("{}"), { signal: AbortSignal.abort(reason) }))).toBe(reason);
    });

    it("closes once however often it is asked, and settles every wait", async () => {
      const end = await opened();
      const recorder = createRecorder();
      end.transport.start(recorder);
      end.stall();
      const waiting = Array.from({ length: 40 }, () => end.transport.send(bytes(`{"a":"${"x".repeat(100_000)}"}`)));
      const outcomes = Promise.allSettled(waiting);
      const first = end.transport.close();
      const second = end.transport.close();
      end.unstall();
      await soon(Promise.all([first, second, end.transport[Symbol.asyncDispose]()]), "close");
      const rejected = (await soon(outcomes, "the sends")).filter(({ status }) => status === "rejected");
      expect(rejected.length).toBeGreaterThan(0);
      expect(rejected).toMatchObject(rejected.map(() => ({ reason: { code: "TRANSPORT_CLOSED" } })));
      await end.transport.closed;
      expect(recorder.closes).toEqual([undefined]);
      expect(await failure(end.transport.send(bytes("{}")))).toMatchObject({ code: "TRANSPORT_CLOSED" });
    });

    it("delivers nothing after close, not even the rest of a chunk", async () => {
      const { transport } = await opened();
      const recorder = createRecorder(() => void transport.close());
      transport.start(recorder);
      const sends = Array.from({ length: 20 }, (_, index) => transport.send(bytes(`{"index":${index}}`)));
      await Promise.allSettled(sends);
      await soon(transport.closed, "the close");
      expect(recorder.log).toEqual(['frame {"index":0}', "close"]);
    });

    it("can be closed before it was started, and says so to who starts it", async () => {
      const { transport } = await opened();
      await soon(transport.close(), "close");
      const recorder = createRecorder();
      transport.start(recorder);
      expect(recorder.closes).toEqual([undefined]);
    });

    it("is started once", async () => {
      const { transport } = await opened();
      transport.start(createRecorder());
      expect(() => transport.start(createRecorder())).toThrow(/once/);
    });

    it("reads no more while it is paused, and everything afterwards", async () => {
      const { transport } = await opened();
      const recorder = createRecorder();
      transport.pause();
      transport.start(recorder);
      await transport.send(bytes('{"n":1}'));
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      expect(recorder.frames).toEqual([]);
      transport.resume();
      await recorder.framesCame(1);
      transport.pause();
      transport.resume();
      await transport.send(bytes('{"n":2}'));
      await recorder.framesCame(2);
      expect(recorder.frames).toEqual(['{"n":1}', '{"n":2}']);
    });
  });
}
