import type { Frame } from "./frame.js";
import type { RequestId } from "./message.js";
import { wireErrors } from "./wire-errors.js";

/** Reasons bytes are not frames, a frame is not a message, or a call was not answered. README § Errors lists each. */
export type FramingErrorCode =
  | "FRAME_TOO_LARGE"
  | "STREAM_TRUNCATED"
  | "HEADER_INVALID"
  | "HEADER_TOO_LARGE"
  | "FRAME_NOT_UTF8"
  | "FRAME_HAS_BOM"
  | "FRAME_NOT_JSON"
  | "FRAME_HAS_NEWLINE"
  | "BATCH_REFUSED"
  | "MESSAGE_INVALID"
  | "ID_INVALID"
  | "PARAMS_INVALID"
  | "JSON_TOO_DEEP"
  | "DUPLICATE_KEY"
  | "PROTO_KEY"
  | "TOO_MANY_ITEMS"
  | "CALL_TIMEOUT"
  | "CALL_ID_IN_USE"
  | "TOO_MANY_CALLS"
  | "CALLS_CLOSED";

/** What a FramingError knows beside its code. */
export interface FramingErrorDetails extends ErrorOptions {
  /** See `FramingError.offset`. */
  readonly offset?: number | undefined;
  /** See `FramingError.requestId`. */
  readonly requestId?: RequestId | undefined;
  /** See `FramingError.frames`. */
  readonly frames?: readonly Frame[] | undefined;
}

/** Thrown when bytes cannot be read as frames or messages. Match on `code`; `cause` is the original error. */
export class FramingError extends Error {
  override readonly name = "FramingError";
  readonly code: FramingErrorCode;
  /** The JSON-RPC number for telling the peer: -32700 to -32600 for what it sent, -32603 for what is ours. */
  readonly wireCode: number;
  /**
   * Where the fault is, in bytes: from the start of the stream in errors of a decoder and of `checkFrame`, from the
   * start of the given bytes in errors of the functions that take bare bytes. Absent where no byte is at fault.
   */
  readonly offset: number | undefined;
  /** The valid id of a refused request, for the error response. Absent when there is none, or it may not be a request. */
  readonly requestId: RequestId | undefined;
  /** From `push` and `end`: frames that were complete before the fault, in order. They are good; the fault comes after. */
  readonly frames: readonly Frame[];

  constructor(code: FramingErrorCode, message: string, details?: FramingErrorDetails) {
    super(message, details?.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.wireCode = wireCodeOf(code);
    this.offset = details?.offset;
    this.requestId = details?.requestId;
    this.frames = details?.frames ?? [];
  }
}

/** Recognises a FramingError from any installed copy of the package, where `instanceof` fails. */
export function isFramingError(value: unknown): value is FramingError {
  return value instanceof Error && value.name === "FramingError" && "code" in value;
}

function wireCodeOf(code: FramingErrorCode): number {
  switch (code) {
    case "FRAME_NOT_UTF8":
    case "FRAME_HAS_BOM":
    case "FRAME_NOT_JSON":
      return wireErrors.parse;
    case "FRAME_TOO_LARGE":
    case "BATCH_REFUSED":
    case "MESSAGE_INVALID":
    case "ID_INVALID":
    case "JSON_TOO_DEEP":
    case "DUPLICATE_KEY":
    case "PROTO_KEY":
      return wireErrors.invalidRequest;
    case "PARAMS_INVALID":
      return wireErrors.invalidParams;
    default:
      return wireErrors.internal;
  }
}
