import type { JsonObject, JsonValue } from "@berth/jsonrpc-framing";
import { isObject } from "./json.js";

const none: JsonObject = Object.freeze({});

/** `params._meta` of a message; an empty object when there is none, or it is no object. */
export function metaOf(params: JsonValue | undefined): JsonObject {
  const meta = isObject(params) ? params["_meta"] : undefined;
  return isObject(meta) ? meta : none;
}
