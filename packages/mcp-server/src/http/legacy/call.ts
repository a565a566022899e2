import { messageEvent, textOf } from "../events.js";
import type { Exchange } from "../exchange.js";
import { json } from "../refusals.js";
import { streamHeaders } from "../served-exchange.js";
import type { DueQueue } from "./due-queue.js";
import type { SessionStream } from "./stream.js";

/** What a call needs of its session. */
export interface CallOwner {
  /** Calls that have sent nothing yet, each due to become a stream. */
  readonly starting: DueQueue<Call>;
  /** Whether a stream can be let go of and resumed. */
  readonly canRelease: boolean;
  /** Also of what is whole at once. */
  readonly answersAsStream: boolean;
  newStream(): SessionStream;
  endStream(stream: SessionStream): void;
}

/**
 * The answer to one POSTed request: JSON (or one event, if its owner wants it) when nothing was sent in its course, else a stream. It goes on when the client is gone (MCP 2025-11-25,
 * Transports § Sending messages): what is sent then is kept if the stream had begun, so that the client can ask for it, else lost.
 */
export class Call {
  readonly #owner: CallOwner;
  #exchange: Exchange | undefined;
  #stream: SessionStream | undefined;

  constructor(owner: CallOwner, exchange: Exchange) {
    this.#owner = owner;
    this.#exchange = exchange;
    owner.starting.touch(this);
  }

  /** Becomes a stream, if it is none. */
  begin(): void {
    const exchange = this.#take();
    if (exchange === undefined || exchange.isGone) return;
    this.#stream = this.#owner.newStream();
    this.#stream.open(exchange);
  }

  /** Sends a message of the server's own. */
  send(message: string, droppable: boolean): void {
    this.begin();
    this.#stream?.send(message, droppable ? "droppable" : "needed");
  }

  /** Ends the response; the client comes back for the rest. */
  release(): void {
    if (!this.#owner.canRelease) return;
    this.begin();
    this.#stream?.release();
  }

  /** The answer, or undefined for a request that was cancelled: no answer is to be sent then. Only the first call counts. */
  finish(body: string | Uint8Array | undefined): void {
    const exchange = this.#take();
    if (exchange !== undefined) {
      if (body === undefined) exchange.answer(202, {});
      else answerWhole(exchange, body, this.#owner.answersAsStream);
      return;
    }
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#stream = undefined;
    if (body !== undefined) stream.send(textOf(body), "answer");
    this.#owner.endStream(stream);
  }

  /** The request, as long as it has no answer of any kind. */
  #take(): Exchange | undefined {
    const exchange = this.#exchange;
    if (exchange !== undefined) this.#owner.starting.delete(this);
    this.#exchange = undefined;
    return exchange;
  }
}

/** An answer before which nothing was sent: one JSON object, or one event. There is nothing in it to resume, so that it needs no place in a stream. */
export function answerWhole(
  exchange: Exchange,
  body: string | Uint8Array | undefined,
  asStream: boolean,
  headers?: Readonly<Record<string, string>>,
): void {
  const isEvent = asStream && body !== undefined;
  const sent = isEvent ? messageEvent(undefined, textOf(body)) : body;
  exchange.answer(200, { ...(isEvent ? streamHeaders : json), ...headers }, sent);
}
