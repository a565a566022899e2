import { type FramingError, type JsonObject, type JsonValue, type RequestId, wireErrors } from "@berth/jsonrpc-framing";
import { isEraError, isRpcError } from "../errors.js";
import type { Reply } from "./core.js";
import { EncodedResult } from "./list.js";

/** A JSON-RPC answer. `id` is null, or in 2026-07-28 absent, when that of the request could not be read. */
export type JsonRpcResponse =
  | { readonly jsonrpc: "2.0"; readonly id: RequestId; readonly result: JsonObject }
  | { readonly jsonrpc: "2.0"; readonly id?: RequestId | null; readonly error: JsonRpcError };

/** The `error` member of an answer. */
export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonValue | undefined;
}

/** An answer before it is known whether it is wanted as a value or as bytes. */
export type Answer =
  | { readonly id: RequestId; readonly reply: Reply }
  | { readonly id: RequestId | null | undefined; readonly error: JsonRpcError };

export function toResponse(answer: Answer): JsonRpcResponse {
  if ("error" in answer) {
    const { id, error } = answer;
    return id === undefined ? { jsonrpc: "2.0", error } : { jsonrpc: "2.0", id, error };
  }
  const { id, reply } = answer;
  return { jsonrpc: "2.0", id, result: reply instanceof EncodedResult ? reply.value : reply };
}

/** An answer as it is sent: one JSON-RPC message. */
export interface EncodedAnswer {
  /** Its JSON, as text or as UTF-8, whichever is at hand. */
  readonly body: string | Uint8Array;
  /** The number of the error that it is; undefined for a result. */
  readonly errorCode: number | undefined;
}

/** Throws what `JSON.stringify` throws for a result that is no JSON. */
export function encode(answer: Answer): EncodedAnswer {
  if ("error" in answer) return { body: JSON.stringify(toResponse(answer)), errorCode: answer.error.code };
  if (!(answer.reply instanceof EncodedResult)) {
    return { body: JSON.stringify(toResponse(answer)), errorCode: undefined };
  }
  const head = Buffer.from(`{"jsonrpc":"2.0","id":${JSON.stringify(answer.id)},"result":`);
  return { body: Buffer.concat([head, answer.reply.bytes, tail]), errorCode: undefined };
}
const tail = Buffer.from("}");

/** What the client gets for an error that is an answer; undefined for one that is a fault. */
export function toWireError(error: unknown): JsonRpcError | undefined {
  if (isRpcError(error)) return wireError(error.code, error.message, error.data);
  if (isEraError(error)) return wireError(error.wire.code, error.message, error.wire.data);
  return undefined;
}

export function wireError(code: number, message: string, data?: JsonValue): JsonRpcError {
  return data === undefined ? { code, message } : { code, message, data };
}

/** Whether it was a notification that is at fault: none is ever answered (JSON-RPC 2.0 § 4.1). Requests with such parameters have an id. */
export function isOfNotification({ code, requestId }: FramingError): boolean {
  return code === "PARAMS_INVALID" && requestId === undefined;
}

/** What the client gets for a fault of ours: nothing of its text. */
export const internalError: JsonRpcError = { code: wireErrors.internal, message: "Internal error" };
