export type { StdioTransportErrorCode, StdioTransportErrorDetails } from "./errors.js";
export { isStdioTransportError, StdioTransportError } from "./errors.js";
export type { StreamTransportOptions } from "./stdio.js";
export { createStreamTransport } from "./stdio.js";
export type { FrameReceiver, SendOptions, Transport, TransportLimits } from "./transport.js";
