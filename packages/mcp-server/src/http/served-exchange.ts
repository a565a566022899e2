import type { Exchange } from "./exchange.js";
import type { HttpBounds } from "./limits.js";
import { badRequest, type HttpRefusal } from "./refusals.js";

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
  /** The same of the requests that are worked on. */
  workedBytes: number;
  /** Bytes of answers that have not left. */
  unsentBytes: number;
  /** Answers that are whole and have not left. */
  leaving: number;
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
