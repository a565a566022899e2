import type { EventSink } from "./exchange.js";
import type { Gone } from "./gone.js";
import type { SinkOwner } from "./node-sink.js";

/** A web-standard stream of server-sent events, and the end that is written to. */
export function openWebStream(
  gone: Gone,
  owner: Omit<SinkOwner, "cut">,
): { readonly stream: ReadableStream<Uint8Array>; readonly sink: EventSink } {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isEnded = false;
  const waiters: (() => void)[] = [];
  let counted = 0;
  const release = (): void => {
    owner.count(-counted);
    counted = 0;
    for (const resolve of waiters.splice(0)) resolve();
  };
  const queuedBytes = (): number => Math.max(0, -(controller?.desiredSize ?? 0));
  const stream = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      pull: release, // asked for only when nothing is left
      cancel() {
        isEnded = true;
        owner.ended();
        gone.tell();
      },
    },
    // Without room of its own, what is wanted less than nothing is what waits.
    { highWaterMark: 0, size: (chunk) => chunk.byteLength },
  );
  const stop = (): boolean => {
    if (isEnded) return false;
    isEnded = true;
    owner.ended();
    return true;
  };
  gone.onGone(() => {
    if (stop()) controller?.error(new Error("the client is gone"));
    release();
  });
  const sink: EventSink = {
    get queuedBytes() {
      return queuedBytes();
    },
    write(text) {
      if (isEnded) return;
      counted += text.length;
      owner.count(text.length);
      controller?.enqueue(Buffer.from(text));
    },
    end() {
      if (stop()) controller?.close();
    },
    drained() {
      if (gone.isGone || queuedBytes() === 0) return Promise.resolve();
      return new Promise((resolve) => {
        waiters.push(resolve);
      });
    },
    abort() {
      gone.tell();
    },
  };
  return { stream, sink };
}
