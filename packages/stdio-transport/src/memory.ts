import { PassThrough } from "node:stream";
import { refuseUnknown } from "./read-options.js";
import { createStreamTransport } from "./stdio.js";
import type { Transport, TransportLimits } from "./transport.js";
import { readTransportLimits, type TransportTerms, transportLimitNames } from "./transport-terms.js";

/**
 * Two transports that are joined: what one sends, the other receives; closing one ends the other. Same limits and faults
 * as over real streams, since it is the same code over two pipes in memory.
 */
export function createMemoryPair(options: TransportLimits = {}): readonly [Transport, Transport] {
  refuseUnknown(options, transportLimitNames);
  const terms = readTransportLimits(options);
  const there = new PassThrough({ highWaterMark: pipeBytes });
  const back = new PassThrough({ highWaterMark: pipeBytes });
  return [createEnd(back, there, terms), createEnd(there, back, terms)];
}

/** As a Linux pipe: so much is taken from a sender whose peer does not read. */
const pipeBytes = 65_536;

function createEnd(readable: PassThrough, writable: PassThrough, terms: TransportTerms): Transport {
  const transport = createStreamTransport({ readable, writable, ...terms });
  // As a process that exits: the peer reads what was sent and then the end, and can send no more.
  void transport.closed.then(() => {
    writable.end();
    readable.destroy();
  });
  return transport;
}
