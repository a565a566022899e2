/** JSON has no line feed outside of its strings, so that any message is one line of an event (WHATWG HTML § 9.2.6). */
export function textOf(message: string | Uint8Array): string {
  return typeof message === "string"
    ? message
    : Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString();
}

/** An event of 2026-07-28, where streams are never resumed: nothing but the message. */
export function plainEvent(message: string): string {
  return `data: ${message}\n\n`;
}

/** An event of a session's stream. Named, though "message" is the default: there are clients that compare the name. */
export function messageEvent(id: string | undefined, message: string): string {
  return id === undefined ? `event: message\ndata: ${message}\n\n` : `event: message\nid: ${id}\ndata: ${message}\n\n`;
}

/** Tells a client where it is before there is a message, and when to come back (MCP 2025-11-25, Transports § Sending messages). */
export function primingEvent(id: string, retryMs: number): string {
  return `id: ${id}\nretry: ${retryMs}\ndata: \n\n`;
}

/** When to come back, on a stream that ends before its answer. */
export function retryEvent(retryMs: number): string {
  return `retry: ${retryMs}\n\n`;
}

/** A comment (WHATWG HTML § 9.2.6): no event, but something to send, so that proxies keep the stream and a connection that broke is noticed. */
export const keepAliveComment = ": keep-alive\n\n";

/** A place in a stream of a session. */
export interface EventPlace {
  readonly stream: number;
  readonly position: number;
}

/** Event ids hold nothing but the place: whose it is the session decides, in which alone they mean anything. */
export function writeEventId({ stream, position }: EventPlace): string {
  return `${stream.toString(36)}-${position.toString(36)}`;
}

/** Undefined for what was never an id of ours. */
export function readEventId(text: string): EventPlace | undefined {
  const [, stream, position] = /^([0-9a-z]{1,10})-([0-9a-z]{1,10})$/.exec(text) ?? [];
  if (stream === undefined || position === undefined) return undefined;
  return { stream: Number.parseInt(stream, 36), position: Number.parseInt(position, 36) };
}
