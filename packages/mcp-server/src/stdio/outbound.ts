import { Readable, type Writable } from "node:stream";
import { createStreamTransport } from "@berth/stdio-transport/streams";
import type { StdioBounds } from "./limits.js";

/** Messages to the client: in order, each wholly or not at all, those of one tick in one write. */
export interface Outbound {
  send(message: Uint8Array): void;
  /** As `send`, but left out when too much waits already: for what no answer depends on. */
  sendIfRoom(message: Uint8Array): void;
  /** Messages that were left out. */
  readonly dropped: number;
  readonly isFull: boolean;
  /** Resolves when everything has left or can no longer leave. */
  flushed(): Promise<void>;
  close(): Promise<void>;
}

/** Told of what happens to messages. */
export interface OutboundEvents {
  /** There is room again. */
  onRoom(): void;
  /** The client no longer reads. */
  onGone(): void;
}

export function createOutbound(writable: Writable, bounds: StdioBounds, events: OutboundEvents): Outbound {
  const { maxSentFrameBytes, maxQueued, maxQueuedBytes } = bounds;
  // The sending half of a transport: its readable never gives anything.
  const transport = createStreamTransport({
    readable: new Readable({ read: () => undefined }),
    writable,
    maxFrameBytes: maxSentFrameBytes,
    // Answers that are due are bounded by the requests under way; reading stops long before this.
    maxQueuedBytes: 1_073_741_824,
  });
  let queued = 0;
  let dropped = 0;
  let gone = false;
  let onFlushed: (() => void) | undefined;

  const isFull = (): boolean => queued >= maxQueued || transport.queuedBytes >= maxQueuedBytes;
  const settled = (): void => {
    queued -= 1;
    if (queued === 0) onFlushed?.();
    if (!gone && !isFull()) events.onRoom();
  };
  const failed = (): void => {
    const isFirst = !gone;
    gone = true;
    settled();
    if (isFirst) events.onGone();
  };
  const send = (message: Uint8Array): void => {
    if (gone) return;
    if (message.length > maxSentFrameBytes) {
      dropped += 1; // a question that is too large: its handler gets no answer in time
      return;
    }
    queued += 1;
    void transport.send(message).then(settled, failed);
  };
  return {
    send,
    sendIfRoom(message) {
      if (isFull()) dropped += 1;
      else send(message);
    },
    get dropped() {
      return dropped;
    },
    get isFull() {
      return isFull();
    },
    flushed: () =>
      queued === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            onFlushed = resolve;
          }),
    close: () => transport.close(),
  };
}
