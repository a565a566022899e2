import {
  type Edit,
  type Envelope,
  readMember,
  readScalar,
  type Span,
  splice,
  type WireError,
  wireErrors,
} from "@berth/jsonrpc-framing";
import { isProcessPluginError } from "../errors.js";
import { aveErrors } from "../wire-errors.js";

/** By which notifications and the result of a `subscriptions/listen` name it (MCP 2026-07-28). */
const subscriptionKey = "io.modelcontextprotocol/subscriptionId";

/** The answer of a plugin with the id that its client gave, wherever the plugin named ours; all other bytes stay. */
export function answerFor(bytes: Uint8Array, envelope: Envelope, ours: number, theirs: Uint8Array): Uint8Array {
  const { id, result } = envelope;
  const subscription = result && subscriptionOf(bytes, result, ["_meta", subscriptionKey]);
  const places = [id, subscription?.value === ours ? subscription.place : undefined];
  return splice(
    bytes,
    places.flatMap((place) => (place === undefined ? [] : [put(place, theirs)])),
  );
}

/** Ids are compared as JSON reads them: `7.0` is 7. */
function subscriptionOf(
  bytes: Uint8Array,
  span: Span,
  path: readonly string[],
): { readonly place: Span; readonly value: unknown } | undefined {
  const place = readMember(bytes, span, path);
  return place && { place, value: readScalar(bytes, place) };
}

/** Whose a notification is, and where it names our id. */
export interface NotificationPlace {
  readonly id: number;
  readonly place: Span;
}

/** Our id in a notification: of its subscription, its progress token, or the request that it is about. */
export function placeOfNotification(
  method: string,
  bytes: Uint8Array,
  { members }: Envelope,
): NotificationPlace | undefined {
  const meta = members?.get("_meta");
  const subscription = meta && subscriptionOf(bytes, meta, [subscriptionKey]);
  if (subscription !== undefined) return withNumber(subscription.place, subscription.value);
  const member = named[method];
  const place = member === undefined ? undefined : members?.get(member);
  return place && withNumber(place, readScalar(bytes, place));
}

const named: Readonly<Record<string, string>> = {
  "notifications/progress": "progressToken",
  "notifications/cancelled": "requestId",
};

function withNumber(place: Span, value: unknown): NotificationPlace | undefined {
  return typeof value === "number" ? { id: value, place } : undefined;
}

export function put(place: Span, bytes: Uint8Array): Edit {
  return { start: place.start, end: place.end, bytes };
}

/** An error answer of the host. @param id As the client wrote it; `null` where it could not be read. */
export function errorAnswer(id: Uint8Array | undefined, wire: WireError): Uint8Array {
  const parts = ['{"jsonrpc":"2.0","id":', id ?? "null", `,"error":${JSON.stringify(wire)}}`];
  return Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
}

/** What a client is told of a call that has no answer: never what the plugin wrote. */
export function wireOf(error: unknown): WireError {
  if (!isProcessPluginError(error)) return { code: wireErrors.internal, message: "Internal error" };
  const data = { reason: error.code };
  if (error.code === "PLUGIN_NOT_RUNNING") return { code: aveErrors.notRunning, message: "not running", data };
  if (error.code === "TOO_MANY_CALLS")
    return { code: wireErrors.internal, message: "too many requests are under way", data };
  if (error.code === "REQUEST_INVALID") return { code: wireErrors.invalidRequest, message: error.message, data };
  if (error.code === "PLUGIN_TIMEOUT") return { code: wireErrors.internal, message: "no answer in time", data };
  return { code: wireErrors.internal, message: "the plugin has ended", data };
}
