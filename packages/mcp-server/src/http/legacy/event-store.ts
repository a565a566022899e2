/** One event of a stream, as it was or would have been sent. */
export interface StreamEvent {
  /** Which stream of the session. 0 belongs to no request. */
  readonly stream: number;
  /** Its place in the stream: grows, not always by one. */
  readonly position: number;
  /** The last place before it that must not be missing: a reader that stands before it has lost something. */
  readonly needs: number;
  /** Whether a client can do without it: what a store has to forget first. */
  readonly droppable: boolean;
  /** One JSON-RPC message. */
  readonly message: string;
}

/**
 * Keeps what was sent on streams, so that a client whose connection broke can have it again (MCP 2025-11-25, Transports § Resumability). May forget
 * what it wants at any time: a client that misses something then is refused. Sessions live in one process, so a store need not outlive it.
 *
 * What one of its functions throws, or rejects with, is reported and changes nothing for the clients that are connected.
 */
export interface EventStore {
  /** Called in the order of positions for each stream, also before an earlier call has resolved. */
  append(session: string, event: StreamEvent): void | Promise<void>;
  /** The events of this stream after this position that are still kept, in order. Knows of every `append` that was called before it. */
  readAfter(
    session: string,
    stream: number,
    position: number,
  ): readonly StreamEvent[] | Promise<readonly StreamEvent[]>;
  /** Forgets a session, which has ended. Nothing of it is appended later. */
  forget(session: string): void | Promise<void>;
}

const functions = ["append", "readAfter", "forget"] as const;

/** @throws {TypeError} for what lacks one of the functions, at the start and not when the first client needs it. */
export function checkEventStore(store: EventStore | undefined): void {
  if (store === undefined) return;
  for (const name of functions) {
    if (typeof store[name] !== "function") throw new TypeError(`the event store has no function "${name}"`);
  }
}
