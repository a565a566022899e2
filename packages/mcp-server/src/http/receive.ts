import { isFramingError, type Message, parseMessage } from "@berth/jsonrpc-framing";
import { isLongId, longId } from "../server/limits.js";
import type { Exchange } from "./exchange.js";
import { type Accepted, isJson, readAccept } from "./media-types.js";
import { badRequest, HttpRefusal } from "./refusals.js";

/**
 * What can be said of a POST before its body is read.
 * @throws {HttpRefusal} 406, 415
 */
export function checkPost(exchange: Exchange): Accepted {
  const accepted = readAccept(exchange.header("accept"));
  if (!accepted.json && !accepted.stream) {
    throw badRequest(406, "answers are application/json or text/event-stream");
  }
  if (!isJson(exchange.header("content-type"))) throw badRequest(415, "the body has to be application/json");
  const encoding = exchange.header("content-encoding");
  if (encoding !== undefined && encoding !== "identity") throw badRequest(415, "the body must not be compressed");
  return accepted;
}

/** A message, or why a body is none, with the id of the request that it may have been. */
export type Parsed =
  | { readonly message: Message }
  | { readonly refusal: HttpRefusal; readonly id: string | number | undefined };

/** Reads the one message that a body is. */
export function parseBody(body: Uint8Array): Parsed {
  try {
    const message = parseMessage(body, { params: "object", duplicateKeys: "refuse" });
    if (message.kind !== "request" || !isLongId(message.id)) return { message };
    return { refusal: badRequest(400, longId), id: undefined };
  } catch (error) {
    if (!isFramingError(error)) throw error;
    return { refusal: new HttpRefusal(400, error.wireCode, error.message), id: error.requestId };
  }
}
