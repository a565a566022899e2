import type { JsonObject } from "@berth/jsonrpc-framing";
import type { Exchange } from "./exchange.js";
import { badRequest, json } from "./refusals.js";

/**
 * Answers what is not for the endpoint: documents that anybody may get (RFC 9728 § 3).
 * @throws {HttpRefusal} 404, 405
 */
export function documentServer(documents: ReadonlyMap<string, JsonObject> | undefined): (exchange: Exchange) => void {
  const bodies = new Map([...(documents ?? [])].map(([path, document]) => [path, JSON.stringify(document)]));
  return (exchange) => {
    const body = bodies.get(exchange.path);
    if (body === undefined) throw badRequest(404, "there is nothing here");
    if (exchange.method !== "GET" && exchange.method !== "HEAD") {
      throw badRequest(405, "this document can only be read", { allow: "GET, HEAD" });
    }
    exchange.answer(200, json, body);
  };
}
