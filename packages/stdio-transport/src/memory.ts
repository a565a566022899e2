import type { Transport, TransportLimits } from "./transport.js";

/** Two transports that are joined: what one sends, the other receives. For tests and for servers in the same process. */
export function createMemoryPair(options: TransportLimits = {}): readonly [Transport, Transport] {
  throw new Error(`not built yet: ${options.maxFrameBytes}`);
}
