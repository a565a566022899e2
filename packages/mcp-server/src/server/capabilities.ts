import { type JsonObject, type JsonValue, wireErrors } from "@berth/jsonrpc-framing";
import { RpcError } from "../errors.js";
import { deepFreeze, isObject } from "../json.js";

const none: JsonObject = Object.freeze({});

/**
 * What a client declared with a request.
 * @throws {RpcError} -32602 when it is over `maxBytes`.
 */
export function readCapabilities(declared: JsonValue | undefined, maxBytes: number): JsonObject {
  if (!isObject(declared)) return none;
  writeCapabilities(declared, maxBytes);
  return declared;
}

/**
 * What is kept of it for a session: a copy, which nothing else of the message hangs on.
 * @throws {RpcError} as `readCapabilities`.
 */
export function copyCapabilities(declared: JsonValue | undefined, maxBytes: number): JsonObject {
  if (!isObject(declared)) return none;
  const copy: JsonObject = JSON.parse(writeCapabilities(declared, maxBytes));
  return deepFreeze(copy);
}

function writeCapabilities(declared: JsonObject, maxBytes: number): string {
  const text = JSON.stringify(declared);
  if (Buffer.byteLength(text) <= maxBytes) return text;
  throw new RpcError(wireErrors.invalidParams, `the capabilities are over ${maxBytes} bytes`, {
    data: { limit: maxBytes },
  });
}
