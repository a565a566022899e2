import type { Exchange } from "../exchange.js";
import { busy } from "../refusals.js";
import type { SessionBounds } from "./limits.js";

/** How many streams are being sent again, in all sessions. */
export interface ReplayCount {
  current: number;
}

/** The streams of one session that are being sent again: each to one response, and only so many. */
export class Replays {
  readonly #bounds: SessionBounds;
  readonly #all: ReplayCount;
  readonly #ends = new Map<number, () => void>();

  constructor(bounds: SessionBounds, all: ReplayCount) {
    this.#bounds = bounds;
    this.#all = all;
  }

  /**
   * Does the work of sending a stream again. Whatever sends it already is cut off: to the client, which has come back, it is dead. `work` is told when that happens to it.
   * @throws {HttpRefusal} 503
   */
  async during(stream: number, exchange: Exchange, work: (cut: AbortSignal) => Promise<void>): Promise<void> {
    this.#ends.get(stream)?.();
    const { maxReplays, maxReplaysPerSession } = this.#bounds;
    if (this.#ends.size >= maxReplaysPerSession) throw busy("too many streams of the session are being sent again");
    if (this.#all.current >= maxReplays) throw busy("too many streams are being sent again");
    const controller = new AbortController();
    let isHeld = true;
    const end = (): void => {
      if (!isHeld) return;
      isHeld = false;
      this.#all.current -= 1;
      this.#ends.delete(stream);
      controller.abort();
    };
    this.#all.current += 1;
    this.#ends.set(stream, end);
    exchange.onGone(end);
    try {
      await work(controller.signal);
    } finally {
      end();
    }
  }
}
