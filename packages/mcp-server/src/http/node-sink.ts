import type { ServerResponse } from "node:http";
import type { EventSink } from "./exchange.js";
import type { Gone } from "./gone.js";

/** Server-sent events over Node's own response. */
export class NodeSink implements EventSink {
  readonly #response: ServerResponse;
  readonly #gone: Gone;
  readonly #onEnd: () => void;
  #isEnded = false;
  #unsettled = 0;
  #waiters: (() => void)[] = [];

  constructor(response: ServerResponse, gone: Gone, onEnd: () => void) {
    this.#response = response;
    this.#gone = gone;
    this.#onEnd = onEnd;
    gone.onGone(() => this.#release());
  }

  get queuedBytes(): number {
    return this.#response.writableLength;
  }

  write(text: string): void {
    if (this.#isEnded || this.#gone.isGone || this.#response.destroyed) return;
    this.#unsettled += 1;
    this.#response.write(text, this.#settled);
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#response.destroyed) return;
    this.#response.end();
    this.#onEnd();
  }

  drained(): Promise<void> {
    if (this.#unsettled === 0 || this.#gone.isGone) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiters.push(resolve);
    });
  }

  abort(): void {
    this.#response.destroy();
  }

  readonly #settled = (): void => {
    this.#unsettled -= 1;
    if (this.#unsettled === 0) this.#release();
  };

  #release(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
