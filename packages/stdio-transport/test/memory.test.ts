import { expect, it } from "vitest";
import { createMemoryPair } from "../src/memory.js";
import { bytes, createRecorder, failure, soon } from "./recorder.js";
import { transportContract } from "./transport.contract.js";

transportContract("a pair in memory", async (limits) => {
  const [transport, peer] = createMemoryPair(limits);
  peer.start(createRecorder(({ bytes: frame }) => void peer.send(Uint8Array.from(frame)).catch(() => undefined)));
  return {
    transport,
    stall: () => peer.pause(),
    unstall: () => peer.resume(),
    dispose: async () => {
      await transport.close();
      await peer.close();
    },
  };
});

it("tells one end when the other closes, after the last frame", async () => {
  const [left, right] = createMemoryPair();
  const recorder = createRecorder();
  right.start(recorder);
  await left.send(bytes('{"last":1}'));
  await left.close();
  expect(await soon(recorder.closed, "the close")).toBeUndefined();
  expect(recorder.log).toEqual(['frame {"last":1}', "close"]);
  expect(await failure(right.send(bytes("{}")))).toMatchObject({ code: "TRANSPORT_CLOSED" });
});

it("works in both directions at once", async () => {
  const [left, right] = createMemoryPair();
  const heard = [createRecorder(), createRecorder()] as const;
  left.start(heard[0]);
  right.start(heard[1]);
  await Promise.all(
    Array.from({ length: 50 }, (_, n) => [left.send(bytes(`{"l":${n}}`)), right.send(bytes(`{"r":${n}}`))]).flat(),
  );
  await Promise.all(heard.map((recorder) => recorder.framesCame(50)));
  expect(heard[0].frames[49]).toBe('{"r":49}');
  expect(heard[1].frames[49]).toBe('{"l":49}');
  await left.close();
});
