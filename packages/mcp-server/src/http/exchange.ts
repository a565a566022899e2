import type { RequestHead } from "./admission.js";

/**
 * One HTTP request on its way to its answer, whatever carries it: Node's `http` or a web-standard `Request`. Exactly one of `answer` and `openStream` is
 * called, once; after the client is gone both do nothing of consequence.
 */
export interface Exchange extends RequestHead {
  /**
   * The whole body.
   * @throws {HttpRefusal} 413 as soon as it is known to be over the limit, 400 when the client is gone in its midst.
   */
  readBody(maxBytes: number): Promise<Uint8Array>;
  /** Called once when the client is gone before the answer has wholly left; at once when it is gone already. */
  onGone(callback: () => void): void;
  readonly isGone: boolean;
  /** The whole answer. Text is sent as UTF-8; `content-length` is added here. */
  answer(status: number, headers: Readonly<Record<string, string>>, body?: string | Uint8Array): void;
  /** Status 200 and a body that grows: `text/event-stream` with what such an answer needs. */
  openStream(): EventSink;
}

/** The growing body of an answer: server-sent events. */
export interface EventSink {
  /** Bytes that the client has not taken yet. */
  readonly queuedBytes: number;
  /** Text of whole events, with their blank lines. Does nothing after `end` or when the client is gone. */
  write(text: string): void;
  /** Ends the body when all of it has left. May be called again. */
  end(): void;
  /** Resolves when all that was written has left, or the client is gone. */
  drained(): Promise<void>;
  /** Cuts it off, for a client that does not read. What has not left is lost. May be called again. */
  abort(): void;
}
