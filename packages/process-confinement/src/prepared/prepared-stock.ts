import { ConfinementError } from "../errors.js";
import type { Raised } from "../start/raise-sandbox.js";
import { createWaitingSandboxes, type Preparation } from "./waiting-sandboxes.js";

/** So many sandboxes that wait for a command. */
export interface PreparedStock {
  /** The oldest one of this basis; undefined when none is there. Those that are of no use any more are ended. */
  take(basis: string): Promise<Raised> | undefined;
  /** Ends one that was taken and not let go. */
  discard(raised: Promise<Raised>): void;
  /** Starts what is missing, now. That it could not be started is told by `whenFull`, and to the next start, by its own sandbox. */
  fill(): void;
  /** Starts what is missing, a little later. */
  fillSoon(): void;
  /** Resolves when as many of this basis wait as there should be; rejects when one that is missing could not be made. */
  whenFull(basis: string): Promise<void>;
  /** Ends all, and resolves when they are gone. */
  close(): Promise<void>;
}

export interface PreparedStockOptions {
  readonly count: number;
  readonly maxAgeMs: number;
  /** The signal ends what is being made. */
  readonly prepare: (signal: AbortSignal) => Preparation;
}

/** The processors are first of all for the command that was let go. */
const fillDelayMs = 50;

export function createPreparedStock({ count, maxAgeMs, prepare }: PreparedStockOptions): PreparedStock {
  const waiting = createWaitingSandboxes({ maxAgeMs, onLoss: () => fill() });
  const closed = new AbortController();
  let making: Promise<void> | undefined;
  let filling: NodeJS.Timeout | undefined;

  // One after the other: Node stands still while it starts a process.
  const makeMissing = async (): Promise<void> => {
    while (waiting.size() < count) {
      closed.signal.throwIfAborted();
      const preparation = prepare(closed.signal);
      waiting.add(preparation);
      await preparation.raised;
    }
  };
  const topUp = (): Promise<void> => {
    making ??= makeMissing().finally(() => {
      making = undefined;
    });
    return making;
  };
  const fill = (): void => {
    clearTimeout(filling);
    filling = undefined;
    topUp().catch(() => {}); // closed, or what is asked for cannot be had now: the next start says so
  };
  return {
    take: (basis) => {
      waiting.weed(basis);
      return waiting.takeFirst();
    },
    discard: waiting.discard,
    fill,
    fillSoon: () => {
      if (!closed.signal.aborted) filling ??= setTimeout(fill, fillDelayMs).unref();
    },
    whenFull: async (basis) => {
      waiting.weed(basis);
      // What was begun earlier may fail of what was another way then.
      await making?.catch(() => {});
      await topUp();
    },
    close: async () => {
      closed.abort(new ConfinementError("STARTER_CLOSED", "the prepared sandboxes were closed"));
      clearTimeout(filling);
      await waiting.clear();
    },
  };
}
