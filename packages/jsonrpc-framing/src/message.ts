import type { JsonArray, JsonObject, JsonValue } from "./json-value.js";

/** `1` and `"1"` are different ids. Numbers are integers. */
export type RequestId = string | number;

/** Wants exactly one answer with the same id. */
export interface RequestMessage {
  readonly kind: "request";
  readonly id: RequestId;
  readonly method: string;
  readonly params?: JsonObject | JsonArray | undefined;
  /** The whole message, with the members that JSON-RPC does not know. */
  readonly value: JsonObject;
}

/** Never answered, not even with an error. */
export interface NotificationMessage {
  readonly kind: "notification";
  readonly method: string;
  readonly params?: JsonObject | JsonArray | undefined;
  readonly value: JsonObject;
}

/** The good answer to a request. */
export interface ResponseMessage {
  readonly kind: "response";
  readonly id: RequestId;
  readonly result: JsonValue;
  readonly value: JsonObject;
}

/** The `error` member (JSON-RPC 2.0 § 5.1). */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonValue | undefined;
}

/** The bad answer to a request. Without id (absent or `null`) it answers something whose id could not be read. */
export interface ErrorMessage {
  readonly kind: "error";
  readonly id?: RequestId | undefined;
  readonly error: WireError;
  readonly value: JsonObject;
}

/** A checked JSON-RPC 2.0 message. */
export type Message = RequestMessage | NotificationMessage | ResponseMessage | ErrorMessage;

/** What `readMessage` accepts. */
export interface MessageOptions {
  /** Most levels of nesting, the message itself being the first: 1 to 10_000. Default 128. Above: `JSON_TOO_DEEP`. */
  readonly maxDepth?: number | undefined;
  /** `refuse`: a key named `__proto__` at any level is `PROTO_KEY`. Default `keep`: it is data like any other key. */
  readonly protoKeys?: "keep" | "refuse" | undefined;
  /** `object`: `params` given as an array are `PARAMS_INVALID`. Default `any`. */
  readonly params?: "any" | "object" | undefined;
}

/** What `parseMessage` accepts. */
export interface ParseOptions extends MessageOptions {
  /** `refuse`: a key that occurs twice in one object, at any level, is `DUPLICATE_KEY`. Default `last`, as `JSON.parse`. */
  readonly duplicateKeys?: "last" | "refuse" | undefined;
}
