export type { Envelope, EnvelopeId, ScanOptions } from "./envelope-scan.js";
export { scanEnvelope } from "./envelope-scan.js";
export type { FramingErrorCode, FramingErrorDetails } from "./errors.js";
export { FramingError, isFramingError } from "./errors.js";
export type { Frame, FrameDecoder, OversizeEnvelope, OversizeFrame } from "./frame.js";
export { checkFrame } from "./frame-check.js";
export type { Encodable, EncodeOptions } from "./frame-encode.js";
export { encodeHeaderFrame, encodeLine } from "./frame-encode.js";
export type { HeaderDecoder, HeaderDecoderOptions } from "./header-codec.js";
export { createHeaderDecoder } from "./header-codec.js";
export type { JsonArray, JsonObject, JsonValue } from "./json-value.js";
export type { LineDecoder, LineDecoderOptions } from "./line-codec.js";
export { createLineDecoder } from "./line-codec.js";
export type { SpanType } from "./member-scan.js";
export { readMember, readScalar, readString, spanType, splitArray, splitObject } from "./member-scan.js";
export type {
  ErrorMessage,
  Message,
  MessageOptions,
  NotificationMessage,
  ParseOptions,
  RequestId,
  RequestMessage,
  ResponseMessage,
  WireError,
} from "./message.js";
export { parseMessage, readMessage } from "./message-check.js";
export type { CallOptions, Delivery, PendingCalls, PendingCallsOptions } from "./pending-calls.js";
export { createPendingCalls } from "./pending-calls.js";
export type { Scheduler, SchedulerTimer } from "./scheduler.js";
export { systemScheduler } from "./scheduler.js";
export type { MemberSpan, Span, SplitLimits } from "./span.js";
export type { Edit } from "./splice.js";
export { replaceId, splice } from "./splice.js";
export { wireErrors } from "./wire-errors.js";
