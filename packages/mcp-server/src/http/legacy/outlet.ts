import { keepAliveComment, messageEvent, writeEventId } from "../events.js";
import type { EventSink, Exchange } from "../exchange.js";
import type { DueQueue } from "./due-queue.js";
import type { StreamEvent } from "./event-store.js";

/** What watches over all open responses. */
export interface OutletWatch {
  /** Each due for its next comment. */
  readonly watched: DueQueue<Outlet>;
  /** How often in a row a client may have taken nothing when the next comment is due, before it is cut off. */
  readonly maxStalls: number;
}

/** So much of what is sent again may wait to leave when the next event is written. */
const maxAheadBytes = 65_536;

/** One open response that carries events, and the watch over whether its client still takes them. */
export class Outlet {
  readonly #sink: EventSink;
  readonly #watch: OutletWatch;
  #written = 0;
  #taken = 0;
  #wasWaiting = false;
  #stalls = 0;
  #isEnded = false;

  constructor(exchange: Exchange, watch: OutletWatch) {
    this.#sink = exchange.openStream();
    this.#watch = watch;
    watch.watched.touch(this);
    exchange.onGone(() => this.#forget());
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

  /**
   * Writes them no faster than the client takes them, so that at most `maxBytes`, or 64 KiB where that is less, and one event wait to leave, and as long as they are
   * wanted.
   */
  async writeAll(events: readonly StreamEvent[], maxBytes: number, areWanted: () => boolean): Promise<void> {
    const ahead = Math.min(maxBytes, maxAheadBytes);
    for (const event of events) {
      if (this.queuedBytes > ahead) await this.#sink.drained();
      if (this.#isEnded || !areWanted()) return;
      this.write(messageEvent(writeEventId(event), event.message));
    }
  }

  /** What was written still leaves, as long as the client takes it. */
  end(): void {
    this.#isEnded = true;
    this.#sink.end();
    if (this.#sink.queuedBytes === 0) this.#watch.watched.delete(this);
    else void this.#sink.drained().then(() => this.#watch.watched.delete(this));
  }

  /** Resolves when all has left, or the client is gone. */
  drained(): Promise<void> {
    return this.#sink.queuedBytes === 0 ? Promise.resolve() : this.#sink.drained();
  }

  /** What has not left is lost; nothing happens when all has. */
  cut(): void {
    this.end();
    if (this.#sink.queuedBytes > 0) this.#sink.abort();
  }

  #forget(): void {
    this.#isEnded = true;
    this.#watch.watched.delete(this);
  }

  /** Each time that a comment is due. */
  watch(): void {
    const { queuedBytes } = this.#sink;
    if (this.#isEnded && queuedBytes === 0) return;
    const taken = this.#written - queuedBytes;
    this.#stalls = this.#wasWaiting && queuedBytes > 0 && taken <= this.#taken ? this.#stalls + 1 : 0;
    this.#taken = taken;
    this.#wasWaiting = queuedBytes > 0;
    if (this.#stalls >= this.#watch.maxStalls) {
      this.#isEnded = true;
      this.#sink.abort();
      return;
    }
    // One that has not taken the last comment needs no other.
    if (queuedBytes === 0) this.write(keepAliveComment);
    this.#watch.watched.touch(this);
  }
}
