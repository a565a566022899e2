import type { ServerResponse } from "node:http";
import type { EventSink } from "./exchange.js";
import type { Gone } from "./gone.js";

/** What a sink needs of its exchange. */
export interface SinkOwner {
  /** So much more, or less, waits to leave. */
  count(bytes: number): void;
  /** All is written. */
  ended(): void;
  /** Closes the connection. */
  cut(): void;
}

/** Server-sent events over Node's own response. */
export class NodeSink implements EventSink {
  readonly #response: ServerResponse;
  readonly #gone: Gone;
  readonly #owner: SinkOwner;
  #isEnded = false;
  #unsettled = 0;
  #counted = 0;
  #waiters: (() => void)[] = [];

  constructor(response: ServerResponse, gone: Gone, owner: SinkOwner) {
    this.#response = response;
    this.#gone = gone;
    this.#owner = owner;
    gone.onGone(() => this.#release());
  }

  get queuedBytes(): number {
    return this.#response.writableLength;
  }

  write(text: string): void {
    if (this.#isEnded || this.#gone.isGone || this.#response.destroyed) return;
    this.#unsettled += 1;
    this.#counted += text.length;
    this.#owner.count(text.length);
    this.#response.write(text, this.#settled);
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#response.destroyed) return;
    this.#response.end();
    this.#owner.ended();
  }

  drained(): Promise<void> {
    if (this.#unsettled === 0 || this.#gone.isGone) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
    });
  }

  abort(): void {
    this.#owner.cut(); // the response alone would wait for its turn
  }

  readonly #settled = (): void => {
    this.#unsettled -= 1;
    if (this.#unsettled === 0) this.#release();
  };

  #release(): void {
    this.#owner.count(-this.#counted);
    this.#counted = 0;
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
