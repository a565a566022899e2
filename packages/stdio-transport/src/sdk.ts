import type { Transport } from "./transport.js";

/** A JSON-RPC message as the official SDKs type it: the union of both lines, without their validation. */
export type SdkMessage = { readonly jsonrpc: "2.0" } & Readonly<Record<string, unknown>>;

/** Fits the `Transport` of `@modelcontextprotocol/sdk` 1.x and of `@modelcontextprotocol/client` and `server` 2.x. */
export interface SdkTransport {
  // Refined in sdk.ts once the interop types are in.
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Gives one of our transports, or one that is opened when the SDK starts it, to an SDK client or server. */
export function sdkTransport(transport: Transport | (() => Promise<Transport>)): SdkTransport {
  throw new Error(`not built yet: ${typeof transport}`);
}
