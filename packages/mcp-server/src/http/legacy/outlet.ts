import type { EventSink, Exchange } from "../exchange.js";
import type { DueQueue } from "./due-queue.js";
import { keepAliveComment } from "./events.js";

/** How often in a row a client may have taken nothing when the next comment is due, before it is cut off. */
const maxStalls = 4;

/** One open response that carries events, and the watch over whether its client still takes them. */
export class Outlet {
  readonly #sink: EventSink;
  readonly #watched: DueQueue<Outlet>;
  #written = 0;
  #taken = 0;
  #wasWaiting = false;
  #stalls = 0;
  #isEnded = false;

  constructor(exchange: Exchange, watched: DueQueue<Outlet>) {
    this.#sink = exchange.openStream({});
    this.#watched = watched;
    watched.touch(this);
  }

  /** Bytes that the client has not taken. */
  get queuedBytes(): number {
    return this.#sink.queuedBytes;
  }

  write(text: string): void {
    if (this.#isEnded) return;
    this.#written += Buffer.byteLength(text);
    this.#sink.write(text);
  }

  /** What was written still leaves, as long as the client takes it. */
  end(): void {
    this.#isEnded = true;
    this.#sink.end();
    if (this.#sink.queuedBytes === 0) this.#watched.delete(this);
    else void this.#sink.drained().then(() => this.#watched.delete(this));
  }

  /** The client is gone. */
  forget(): void {
    this.#isEnded = true;
    this.#watched.delete(this);
  }

  /** Each time that a comment is due. */
  watch(): void {
    const { queuedBytes } = this.#sink;
    if (this.#isEnded && queuedBytes === 0) return;
    const taken = this.#written - queuedBytes;
    this.#stalls = this.#wasWaiting && queuedBytes > 0 && taken <= this.#taken ? this.#stalls + 1 : 0;
    this.#taken = taken;
    this.#wasWaiting = queuedBytes > 0;
    if (this.#stalls >= maxStalls) {
      this.#isEnded = true;
      this.#sink.abort();
      return;
    }
    // One that has not taken the last comment needs no other.
    if (queuedBytes === 0) this.write(keepAliveComment);
    this.#watched.touch(this);
  }
}
