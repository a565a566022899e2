import { type Envelope, type Span, splice } from "@berth/jsonrpc-framing";
import { placeOfNotification, put } from "./mcp-answer.js";
import type { McpClient } from "./mcp-client.js";

/** A request of a client that is under way, by the id that the plugin knows. */
export interface McpCall {
  /** Undefined: the host's own. */
  readonly client: McpClient | undefined;
  readonly isListening: boolean;
  readonly wantsLog: boolean;
  /** As the client wrote them. */
  readonly id: Uint8Array;
  readonly token: Uint8Array | undefined;
}

/** Whom the notifications of a plugin may be for. */
export interface McpAudience {
  /** By the id that the plugin knows, the oldest first. */
  readonly calls: ReadonlyMap<number, McpCall>;
  readonly clients: ReadonlySet<McpClient>;
}

/** What concerns every client (MCP 2026-07-28); those of a subscription name it. */
const changes: ReadonlySet<string> = new Set([
  "notifications/tools/list_changed",
  "notifications/prompts/list_changed",
  "notifications/resources/list_changed",
]);

/** Gives a notification of a plugin to whom it is for; false where that is nobody. */
export function deliverNotification(
  { calls, clients }: McpAudience,
  method: string,
  bytes: Uint8Array,
  envelope: Envelope,
): boolean {
  const named = placeOfNotification(method, bytes, envelope);
  if (named !== undefined) return deliverNamed(calls.get(named.id), named.place, method, bytes);
  if (method === "notifications/message") return deliverMessage(calls, bytes);
  if (!changes.has(method)) return false;
  for (const client of [...clients]) client.deliver(Buffer.from(bytes));
  return true;
}

/** Our id of a client's call. */
export function findCall(calls: ReadonlyMap<number, McpCall>, client: McpClient, id: Uint8Array): number | undefined {
  for (const [ours, call] of calls) if (call.client === client && Buffer.compare(call.id, id) === 0) return ours;
  return undefined;
}

/** Progress, the notifications of a subscription, and its cancellation by the plugin go to the one client that they are for. */
function deliverNamed(call: McpCall | undefined, place: Span, method: string, bytes: Uint8Array): boolean {
  if (call?.client === undefined) return false;
  const isProgress = method === "notifications/progress";
  if (!isProgress && !call.isListening) return false;
  const theirs = isProgress ? call.token : call.id;
  if (theirs === undefined) return false;
  call.client.deliver(splice(bytes, [put(place, theirs)]));
  return true;
}

/** It names no request: of those that asked for messages it can only be the oldest, since a plugin answers one after the other. */
function deliverMessage(calls: ReadonlyMap<number, McpCall>, bytes: Uint8Array): boolean {
  for (const { client, wantsLog } of calls.values()) {
    if (!wantsLog) continue;
    client?.deliver(Buffer.from(bytes));
    return client !== undefined;
  }
  return false;
}
