import type { Exchange, HttpRefusal } from "./exchange.js";
import type { HttpBounds } from "./limits.js";
import { badRequest, busy } from "./refusals.js";

/** An exchange as the front ends make it. */
export interface ServedExchange extends Exchange {
  /** Headers that go with whatever answer comes. */
  common: Readonly<Record<string, string>> | undefined;
}

/** What all exchanges of a handler share. */
export interface Surroundings {
  readonly bounds: HttpBounds;
  /** Bytes of the bodies that are being read. */
  bufferedBytes: number;
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

/** @throws {HttpRefusal} 413 when the declared length is over the limit already. */
export function collectBody(declared: string | undefined, maxBytes: number, around: Surroundings): BodyCollector {
  if (declared !== undefined && Number(declared) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const release = (): void => {
    around.bufferedBytes -= size;
    size = 0;
    chunks.length = 0;
  };
  return {
    add(chunk) {
      if (size + chunk.length > maxBytes) throw tooLarge(maxBytes);
      if (around.bufferedBytes + chunk.length > around.bounds.maxBufferedBytes) throw busy("too much is being read");
      around.bufferedBytes += chunk.length;
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

/** Nobody reads this; it ends whoever waits for the body. */
export function goneWhileReading(): HttpRefusal {
  return badRequest(400, "the client went away inside its body");
}

/** Of every answer that is a stream of events. */
export const streamHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  // Proxies that gather answers would hold events back.
  "x-accel-buffering": "no",
};
