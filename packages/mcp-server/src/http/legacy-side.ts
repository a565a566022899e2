import type { Message } from "@berth/jsonrpc-framing";
import type { Exchange } from "./exchange.js";
import type { LegacySideOptions } from "./legacy/options.js";

/**
 * Sessions of clients that open with `initialize` (MCP 2025-03-26 to 2025-11-25, Transports § Streamable HTTP). Host, origin,
 * principal, content type and body were checked before; so was `Accept` (both types for a POST that holds a request, `text/event-stream` for a GET).
 */
export interface LegacySide<P> {
  /** One message by POST. Answers the exchange itself, also when it refuses. */
  post(exchange: Exchange, message: Message, principal: P): Promise<void>;
  /** The stream for what belongs to no request, or the resumption of one (`last-event-id`). */
  get(exchange: Exchange, principal: P): void;
  /** Ends the session. */
  delete(exchange: Exchange, principal: P): void;
  /** Open sessions. */
  readonly sessionCount: number;
  /** Every request that is open gets an answer; then all is released. */
  close(): Promise<void>;
}

/** @throws {RangeError} for a limit out of its range, {TypeError} for one that does not exist. */
export function createLegacySide<P>(options: LegacySideOptions<P>): LegacySide<P> {
  throw new Error(`sessions are not there yet: ${Object.keys(options)}`);
}
