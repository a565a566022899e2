import type { Readable, Writable } from "node:stream";
import { StdioTransportError } from "./errors.js";
import { refuseUnknown } from "./read-options.js";
import { createStreamCore } from "./stream-core.js";
import type { Transport, TransportLimits } from "./transport.js";
import { readTransportLimits, transportLimitNames } from "./transport-terms.js";

/** What `createStreamTransport` accepts. */
export interface StreamTransportOptions extends TransportLimits {
  /** Where frames come from. Stays the caller's: it is read, paused and let go, never destroyed. */
  readonly readable: Readable;
  /** Where frames go. Stays the caller's: it is never ended or destroyed. */
  readonly writable: Writable;
}

/**
 * A Transport over two streams of the caller, such as `process.stdin` and `process.stdout`. `close` leaves the streams
 * open, the readable paused and without our listeners; a write that is under way is let end first.
 * @throws {StdioTransportError} `OPTION_INVALID`, also for a readable that was given an encoding.
 */
export function createStreamTransport(options: StreamTransportOptions): Transport {
  refuseUnknown(options, ["readable", "writable", ...transportLimitNames]);
  const { readable, writable } = options;
  if (readable.readableEncoding !== null) {
    throw new StdioTransportError(
      "OPTION_INVALID",
      `the readable decodes ${readable.readableEncoding}: bytes are needed`,
    );
  }
  return createStreamCore({ readable, writable, terms: readTransportLimits(options) }).transport;
}
