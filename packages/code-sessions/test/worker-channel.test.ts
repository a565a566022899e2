import { type Duplex, duplexPair } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createWorkerChannel, type WorkerChannel } from "../src/worker/worker-channel.js";

interface Opened {
  readonly channel: WorkerChannel;
  readonly peer: Duplex;
  readonly said: string[];
  /** What the channel ended for; `open` while it has not. */
  readonly ended: Promise<string | undefined>;
  end(): string | undefined;
}

function open(): Opened {
  const [near, peer] = duplexPair();
  const said: string[] = [];
  let state: string | undefined = "open";
  let channel: WorkerChannel | undefined;
  const ended = new Promise<string | undefined>((resolve) => {
    channel = createWorkerChannel({
      stream: near,
      maxFrameBytes: 4_096,
      onSaid: (method, params) => said.push(`${method} ${JSON.stringify(params)}`),
      onEnd(fault) {
        state = fault;
        resolve(fault);
      },
    });
  });
  if (channel === undefined) throw new Error("not made");
  peer.resume();
  return { channel, peer, said, ended, end: () => state };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const line = (value: unknown): string => `${JSON.stringify(value)}\n`;
const notification = (n: number): string => line({ jsonrpc: "2.0", method: "m", params: { n } });

describe("the channel to a worker", () => {
  it("hears the same however the bytes are cut", async () => {
    const stream = Buffer.from([1, 2, 3, 4].map(notification).join(""));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), async (cuts) => {
        const { peer, said, end, channel } = open();
        for (let at = 0, i = 0; at < stream.length; i += 1) {
          const size = cuts[i % cuts.length] ?? 1;
          peer.write(stream.subarray(at, at + size));
          at += size;
        }
        await turn();
        await turn();
        expect(said).toEqual([1, 2, 3, 4].map((n) => `m {"n":${n}}`));
        expect(end()).toBe("open");
        channel.close();
      }),
      { numRuns: 50 },
    );
  });

  it("ends at the first line that is no frame, whatever it is, and hears nothing after it", async () => {
    const garbage = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 200 }).filter((bytes) => !bytes.includes(10)),
      fc.string({ minLength: 1 }).map((text) => Buffer.from(text.replaceAll("\n", " "))),
      fc.json({ maxDepth: 2 }).map((text) => Buffer.from(text)),
    );
    await fc.assert(
      fc.asyncProperty(garbage, async (bytes) => {
        const { peer, said, ended } = open();
        peer.write(notification(1));
        peer.write(Buffer.concat([bytes, Buffer.from("\n"), Buffer.from(notification(2))]));
        expect(await ended).toBeTypeOf("string");
        expect(said).toEqual(['m {"n":1}']);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    { name: "an answer to nothing", text: line({ jsonrpc: "2.0", id: 5, result: {} }) },
    { name: "an answer with a text as id", text: line({ jsonrpc: "2.0", id: "1", result: {} }) },
    { name: "an error without data", text: line({ jsonrpc: "2.0", id: 1, error: { code: 1, message: "m" } }) },
    { name: "a second answer", text: line({ jsonrpc: "2.0", id: 1, result: {} }).repeat(2) },
    { name: "an empty line", text: "\n" },
    { name: "an empty line behind a frame", text: `${notification(1)}\n` },
    { name: "a frame that is too long", text: line({ jsonrpc: "2.0", method: "m", params: { n: "x".repeat(4_096) } }) },
    { name: "a batch", text: "[]\n" },
    { name: "a key twice in the id", text: '{"jsonrpc":"2.0","id":1,"id":2,"result":{}}\n' },
  ])("ends for $name", async ({ text }) => {
    const { channel, peer, ended } = open();
    const { answer } = channel.ask("a", {});
    const settled = answer.catch((error: unknown) => error);
    peer.write(text);
    expect(await ended).toBeTypeOf("string");
    await settled;
    await expect(channel.ask("b", {}).answer).rejects.toMatchObject({ name: "ChannelEnded" });
  });

  it("fails what waits when the peer ends, and says that nothing was wrong", async () => {
    const { channel, peer, ended } = open();
    const { answer } = channel.ask("a", {});
    peer.end();
    await expect(answer).rejects.toMatchObject({ name: "ChannelEnded" });
    expect(await ended).toBeUndefined();
  });
});
