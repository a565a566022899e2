import type { Socket } from "node:net";
import { malformed } from "./refused.js";

/** Reads a client's bytes on demand and in bounded memory; nothing is read that nobody waits for. */
export interface Intake {
  /** The next byte, left where it is. */
  peek(): Promise<number>;
  /** Exactly `count` bytes. */
  take(count: number): Promise<Buffer>;
  /** 1 to `most` bytes, as they come. */
  takeSome(most: number): Promise<Buffer>;
  /** Everything through the marker, which must end within `most` bytes. */
  takeThrough(marker: string, most: number, tooLong: () => Error): Promise<Buffer>;
  /** Ends the reading; what was not taken goes back into the socket. */
  release(): void;
}

/**
 * Every wait rejects with `EgressRefused` when the client ends, and with the signal's reason when it aborts. The socket is
 * paused between waits, so that its end is not seen before what came with it was used.
 */
export function createIntake(socket: Socket, signal: AbortSignal): Intake {
  let held: Buffer = Buffer.alloc(0);
  const more = async (): Promise<void> => {
    held = Buffer.concat([held, await nextChunk(socket, signal)]);
  };
  const cut = (count: number): Buffer => {
    const taken = held.subarray(0, count);
    held = held.subarray(count);
    return taken;
  };
  return {
    async peek() {
      while (held.length === 0) await more();
      return held[0] ?? 0;
    },
    async take(count) {
      while (held.length < count) await more();
      return cut(count);
    },
    async takeSome(most) {
      while (held.length === 0) await more();
      return cut(Math.min(most, held.length));
    },
    async takeThrough(marker, most, tooLong) {
      for (let seen = 0; ; ) {
        const at = held.subarray(0, most).indexOf(marker, seen, "latin1");
        if (at >= 0) return cut(at + marker.length);
        if (held.length >= most) throw tooLong();
        seen = Math.max(0, held.length - marker.length + 1);
        await more();
      }
    },
    release() {
      if (held.length > 0) socket.unshift(held);
      held = Buffer.alloc(0);
    },
  };
}

function nextChunk(socket: Socket, signal: AbortSignal): Promise<Buffer> {
  signal.throwIfAborted();
  if (socket.destroyed || socket.readableEnded) return Promise.reject(malformed("the client ended inside its request"));
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      socket.pause();
      socket.off("data", onData).off("end", onEnd).off("close", onEnd);
      signal.removeEventListener("abort", onAbort);
      act();
    };
    const onData = (chunk: Buffer): void => settle(() => resolve(chunk));
    const onEnd = (): void => settle(() => reject(malformed("the client ended inside its request")));
    const onAbort = (): void => settle(() => reject(signal.reason));
    socket.on("data", onData).on("end", onEnd).on("close", onEnd);
    signal.addEventListener("abort", onAbort, { once: true });
    socket.resume();
  });
}
