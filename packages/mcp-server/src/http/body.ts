import { badRequest, busy, type HttpRefusal } from "./refusals.js";
import type { Surroundings } from "./served-exchange.js";

/** Of each body this much does not count: slow large ones must not keep small ones out. What is free in all is bounded by the number of requests. */
const freeBytes = 16_384;

/** What of a body counts. */
function countAs(bytes: number): number {
  return Math.max(0, bytes - freeBytes);
}

/** Collects one body within all limits. */
export interface BodyCollector {
  /** @throws {HttpRefusal} 413 or 503; the body is given up then. */
  add(chunk: Uint8Array): void;
  /** The whole of it. */
  take(): Uint8Array;
  /** Gives its bytes back to the others. May be called again. */
  release(): void;
}

/**
 * Holds no more bytes than it counts: a chunk of one byte costs a hundred times as much in a buffer of its own, so that all but the first are copied together.
 * @throws {HttpRefusal} 413 when the declared length is over the limit already.
 */
export function collectBody(declared: string | undefined, maxBytes: number, around: Surroundings): BodyCollector {
  const expected = declared === undefined ? maxBytes : Number(declared);
  if (expected > maxBytes) throw tooLarge(maxBytes);
  let held: Uint8Array = nothing;
  let size = 0;
  const claim = (bytes: number): void => {
    const more = countAs(bytes) - countAs(held.length);
    if (around.bufferedBytes + more > around.bounds.maxBufferedBytes) throw busy("too much is being read");
    around.bufferedBytes += more;
  };
  const grow = (needed: number): void => {
    const room = Math.max(needed, Math.min(2 * needed, expected));
    claim(room);
    const larger = Buffer.allocUnsafeSlow(room); // of a pool a small piece would hold the whole
    larger.set(held.subarray(0, size));
    held = larger;
  };
  const release = (): void => {
    around.bufferedBytes -= countAs(held.length);
    held = nothing;
    size = 0;
  };
  return {
    add(chunk) {
      const needed = size + chunk.length;
      if (needed > maxBytes) throw tooLarge(maxBytes);
      if (held.length === 0) {
        claim(chunk.length);
        held = chunk; // mostly the only one
      } else {
        if (needed > held.length) grow(needed);
        held.set(chunk, size);
      }
      size = needed;
    },
    take() {
      const whole = held.subarray(0, size);
      release();
      return whole;
    },
    release,
  };
}
const nothing = new Uint8Array(0);

/**
 * Counts the body of a request as long as it is worked on, since what was made of it is kept for so long. Returns what ends that.
 * @throws {HttpRefusal} 503
 */
export function holdBody(bytes: number, around: Surroundings): () => void {
  const counted = countAs(bytes);
  if (counted > 0 && around.workedBytes + counted > around.bounds.maxInFlightBytes) throw busy("too much is worked on");
  around.workedBytes += counted;
  return () => {
    around.workedBytes -= counted;
  };
}

function tooLarge(maxBytes: number): HttpRefusal {
  return badRequest(413, `the body is larger than ${maxBytes} bytes`);
}
