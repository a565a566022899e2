import type { Exchange } from "../exchange.js";
import type { EventStore } from "./event-store.js";
import type { SessionBounds } from "./limits.js";
import type { SessionStream } from "./stream.js";

interface Waiting {
  readonly message: string;
  readonly droppable: boolean;
  readonly bytes: number;
}

/** What belongs to no request: goes to the client's GET stream, and waits while there is none. */
export class GeneralStream {
  readonly #stream: SessionStream;
  readonly #bounds: SessionBounds;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;

  constructor(stream: SessionStream, bounds: SessionBounds) {
    this.#stream = stream;
    this.#bounds = bounds;
  }

  send(message: string, droppable: boolean): void {
    const one: Waiting = { message, droppable, bytes: Buffer.byteLength(message) };
    if (!this.#trySend(one)) this.#keep(one);
  }

  /** Carries it on this response from here on. */
  open(exchange: Exchange): void {
    this.#stream.open(exchange);
    this.#sendWaiting();
  }

  /** As `SessionStream.resume`. */
  async resume(store: EventStore, exchange: Exchange, position: number): Promise<void> {
    await this.#stream.resume(store, exchange, position);
    this.#sendWaiting();
  }

  end(): void {
    this.#stream.end();
    this.#waiting = [];
  }

  #trySend({ message, droppable }: Waiting): boolean {
    return this.#stream.isOpen && this.#stream.send(message, droppable ? "droppable" : "needed");
  }

  #sendWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const one of waiting) if (!this.#trySend(one)) this.#keep(one);
  }

  #keep(one: Waiting): void {
    // A change that waits to be told already need not be told twice.
    if (one.droppable && this.#waiting.some(({ message }) => message === one.message)) return;
    this.#waiting.push(one);
    this.#waitingBytes += one.bytes;
    while (this.#isTooMuch()) this.#leaveOut();
  }

  #isTooMuch(): boolean {
    const { maxWaiting, maxWaitingBytes } = this.#bounds;
    return this.#waiting.length > maxWaiting || this.#waitingBytes > maxWaitingBytes;
  }

  /** The oldest that may be left out, else the newest of all. */
  #leaveOut(): void {
    const place = this.#waiting.findIndex(({ droppable }) => droppable);
    const [dropped] = this.#waiting.splice(place, 1);
    this.#waitingBytes -= dropped?.bytes ?? 0;
  }
}
