import { type JsonValue, type RequestId, wireErrors } from "@berth/jsonrpc-framing";
import { internalError, wireError } from "../server/answer.js";
import type { Exchange } from "./exchange.js";

/** Ends a request with a status of HTTP and a JSON-RPC error as its body. */
export class HttpRefusal extends Error {
  override readonly name = "HttpRefusal";
  readonly status: number;
  /** JSON-RPC or MCP error number of the body. */
  readonly wireCode: number;
  readonly headers: Readonly<Record<string, string>>;
  /** `error.data` of the body. */
  readonly data: JsonValue | undefined;
  constructor(
    status: number,
    wireCode: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    data?: JsonValue,
  ) {
    super(message);
    this.status = status;
    this.wireCode = wireCode;
    this.headers = headers;
    this.data = data;
  }
}

/**
 * Answers with a refusal. Without `id` the error has none, in every revision: that is what MCP says of errors for what could not be read
 * (2025-11-25 and 2026-07-28, Transports § Sending messages), and `null` is no id by its schemas.
 */
function refuse(exchange: Exchange, refusal: HttpRefusal, id?: RequestId): void {
  const { status, wireCode, message, headers, data } = refusal;
  exchange.answer(status, { ...headers, ...json }, errorBody(wireError(wireCode, message, data), id));
}

/** Answers a request that was thrown at: with the refusal, or for a fault of ours with 500 and no word of it; `report` gets the fault. */
export function refuseWith(
  exchange: Exchange,
  error: unknown,
  id: RequestId | undefined,
  report: (fault: unknown) => void,
): void {
  if (error instanceof HttpRefusal) {
    refuse(exchange, error, id);
    return;
  }
  report(error);
  exchange.answer(500, json, errorBody(internalError, id));
}

/** The body of an answer that is an error. */
export function errorBody(error: object, id: RequestId | undefined): string {
  return JSON.stringify(id === undefined ? { jsonrpc: "2.0", error } : { jsonrpc: "2.0", id, error });
}

/** Of every answer that has a JSON body. */
export const json: Readonly<Record<string, string>> = { "content-type": "application/json" };

/** Shorthand for what the client did wrong. */
export function badRequest(status: number, message: string, headers?: Readonly<Record<string, string>>): HttpRefusal {
  return new HttpRefusal(status, wireErrors.invalidRequest, message, headers);
}

/** There is no room now; the client may come back. */
export function busy(message: string): HttpRefusal {
  return new HttpRefusal(503, wireErrors.internal, message, { "retry-after": "1" });
}

/** The server takes nothing more. */
export function closing(): HttpRefusal {
  return new HttpRefusal(503, wireErrors.internal, "the server is closing", { connection: "close" });
}

/** Nobody reads this; it ends what waits for the client. */
export function clientGone(): HttpRefusal {
  return badRequest(400, "the client went away");
}
