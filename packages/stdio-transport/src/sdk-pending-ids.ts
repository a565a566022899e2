import type { RequestId } from "@berth/jsonrpc-framing";

/** Ids of requests that were sent and not answered yet. */
export interface PendingIds {
  sent(message: object): void;
  /** For the `catch` of sending it: forgets it and throws the reason on. */
  notSent(message: object): (reason: unknown) => never;
  received(message: object): void;
  /** All that wait; they are forgotten. */
  take(): readonly RequestId[];
}

export function createPendingIds(): PendingIds {
  const waiting = new Set<RequestId>();
  return {
    sent: (message) => {
      const id = idOf(message);
      if ("method" in message && id !== undefined) waiting.add(id);
      // The SDKs cancel a call that has timed out and forget it.
      const cancelled = cancelledId(message);
      if (cancelled !== undefined) waiting.delete(cancelled);
    },
    notSent: (message) => (reason) => {
      const id = idOf(message);
      if (id !== undefined) waiting.delete(id);
      throw reason;
    },
    received: (message) => {
      const id = idOf(message);
      if (!("method" in message) && id !== undefined) waiting.delete(id);
    },
    take: () => {
      const ids = [...waiting];
      waiting.clear();
      return ids;
    },
  };
}

function idOf(message: object): RequestId | undefined {
  return "id" in message ? toRequestId(message.id) : undefined;
}

function cancelledId(message: object): RequestId | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled" || !("params" in message))
    return undefined;
  const { params } = message;
  return typeof params === "object" && params !== null && "requestId" in params
    ? toRequestId(params.requestId)
    : undefined;
}

function toRequestId(value: unknown): RequestId | undefined {
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}
