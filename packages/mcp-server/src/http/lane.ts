import type { HttpBounds } from "./limits.js";

/** What a connection needs of the exchanges that it carries. */
export interface Carried {
  /** The connection was closed before all had left. */
  lost(): void;
}

/**
 * One connection of HTTP/1.1 and the requests that came over it. Node reads a hundred small ones at once, and answers leave in their order: so only some are begun
 * before those before them are answered, and none while too much waits to be read.
 */
export class Lane {
  /** Exchanges whose answers have not left. */
  readonly open: Set<Carried> = new Set();
  readonly #bounds: HttpBounds;
  readonly #waiting: (() => void)[] = [];
  #working = 0;
  #unsentBytes = 0;
  #isAdvancing = false;

  constructor(bounds: HttpBounds) {
    this.#bounds = bounds;
  }

  /** Calls back when the exchange may begin; at once if it may. Never when the connection is closed before. */
  enter(begin: () => void): void {
    if (this.#waiting.length === 0 && this.#hasRoom) {
      this.#working += 1;
      begin();
    } else this.#waiting.push(begin);
  }

  /** One that had begun is answered, whether the answer has left or not. */
  answered(): void {
    this.#working -= 1;
    this.#advance();
  }

  /** So much more, or less, waits to leave. */
  count(bytes: number): void {
    this.#unsentBytes += bytes;
    if (bytes < 0) this.#advance();
  }

  /** The connection was closed. */
  close(): void {
    this.#waiting.length = 0;
    for (const exchange of [...this.open]) exchange.lost();
  }

  get #hasRoom(): boolean {
    return this.#working < this.#bounds.maxPipelined && this.#unsentBytes <= this.#bounds.maxUnreadBytes;
  }

  /** A loop and no recursion: what begins may be answered at once. */
  #advance(): void {
    if (this.#isAdvancing) return;
    this.#isAdvancing = true;
    while (this.#waiting.length > 0 && this.#hasRoom) {
      this.#working += 1;
      this.#waiting.shift()?.();
    }
    this.#isAdvancing = false;
  }
}
