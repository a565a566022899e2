import type { Exchange } from "./exchange.js";
import type { HttpBounds } from "./limits.js";
import { badRequest, busy, type HttpRefusal } from "./refusals.js";

/** An exchange as the front ends make it. */
export interface ServedExchange extends Exchange {
  /** Headers that go with whatever answer comes. */
  common: Readonly<Record<string, string>> | undefined;
}

/** What all exchanges of a handler share. */
export interface Surroundings {
  readonly bounds: HttpBounds;
  /** Bytes of the bodies that are being read, beyond what is free for each. */
  bufferedBytes: number;
}

/** Of each body this much does not count: slow large ones must not keep small ones out. What is read is bounded by `maxReading` all the same. */
const freeBytes = 16_384;

/** Collects one body within all limits. */
export interface BodyCollector {
  /** @throws {HttpRefusal} 413 or 503; the body is given up then. */
  add(chunk: Uint8Array): void;
  /** The whole of it. */
  take(): Uint8Array;
  /** Gives its bytes back to the others. May be called again. */
  release(): void;
}

/** @throws {HttpRefusal} 413 when the declared length is over the limit already. */
export function collectBody(declared: string | undefined, maxBytes: number, around: Surroundings): BodyCollector {
  if (declared !== undefined && Number(declared) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const countAs = (bytes: number): number => Math.max(0, bytes - freeBytes);
  const release = (): void => {
    around.bufferedBytes -= countAs(size);
    size = 0;
    chunks.length = 0;
  };
  return {
    add(chunk) {
      if (size + chunk.length > maxBytes) throw tooLarge(maxBytes);
      const more = countAs(size + chunk.length) - countAs(size);
      if (around.bufferedBytes + more > around.bounds.maxBufferedBytes) throw busy("too much is being read");
      around.bufferedBytes += more;
      size += chunk.length;
      chunks.push(chunk);
    },
    take() {
      const [first] = chunks;
      const whole = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size);
      release();
      return whole;
    },
    release,
  };
}

function tooLarge(maxBytes: number): HttpRefusal {
  return badRequest(413, `the body is larger than ${maxBytes} bytes`);
}

/** The client took too long to send its body. */
export function tooSlow(bodyMs: number): HttpRefusal {
  return badRequest(408, `the body took longer than ${bodyMs} ms`, { connection: "close" });
}

/** Of every answer that is a stream of events. */
export const streamHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  // Proxies that gather answers would hold events back.
  "x-accel-buffering": "no",
};
