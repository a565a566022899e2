import { readMember, readString, type Span, spanType, type WireError, wireErrors } from "@berth/jsonrpc-framing";
import type { ClientTerms } from "./client-terms.js";
import type { ModernCall, ModernCalls } from "./modern-calls.js";

/** What the parts of one front share. */
export interface FrontParts {
  readonly client: ClientTerms;
  readonly calls: ModernCalls;
  /** Members of `_meta`, with the log level that counts now. */
  meta(): string;
  /** An id of the relay's own, for requests to either side. */
  nextId(): string;
  /** Nobody waits for it: a server that is gone, or does not read, is told of by the end of the transport. */
  toServer(frame: Uint8Array): void;
  /** As `toServer`, where it matters: rejects as `Transport.send` does. */
  send(frame: Uint8Array): Promise<void>;
  toClient(frame: Uint8Array): void;
  /** Ends a call with an error of the relay's own, and takes back what the client is asked for it. */
  fail(call: ModernCall, why: string): void;
}

export const paramsInvalid: WireError = { code: wireErrors.invalidParams, message: "Invalid params" };

/** The string member of an object; undefined when either is something else. */
export function textAt(frame: Uint8Array, object: Span | undefined, name: string): string | undefined {
  const span = object && spanType(frame, object) === "object" ? readMember(frame, object, [name]) : undefined;
  return span && readString(frame, span);
}
