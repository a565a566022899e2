import type { Readable, Writable } from "node:stream";
import type { Transport, TransportLimits } from "./transport.js";

/** What `createStreamTransport` accepts. */
export interface StreamTransportOptions extends TransportLimits {
  /** Where frames come from. Stays the caller's: it is read, paused and let go, never destroyed. */
  readonly readable: Readable;
  /** Where frames go. Stays the caller's: it is never ended or destroyed. */
  readonly writable: Writable;
}

/**
 * A Transport over two streams of the caller, such as `process.stdin` and `process.stdout`. After `close` the streams
 * are as they were: open, paused, with a listener that swallows errors of late writes.
 */
export function createStreamTransport(options: StreamTransportOptions): Transport {
  throw new Error(`not built yet: ${options.maxFrameBytes}`);
}
