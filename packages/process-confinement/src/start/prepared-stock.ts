import { ConfinementError } from "../errors.js";
import { isAlive } from "../identity/process-identity.js";
import { endRaised, type Raised } from "./raise-sandbox.js";

/** A sandbox that is being made, or waits. */
export interface Preparation {
  /** What it was made for: another one is not to get it. */
  readonly basis: string;
  readonly raised: Promise<Raised>;
}

/** Sandboxes that wait for a command. */
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

interface Waiting extends Preparation {
  ready: Raised | undefined;
  readyAt: number;
  timer: NodeJS.Timeout | undefined;
}

/** One that died earlier than this is replaced with the next start only: what ends it would end the next one, too. */
const leastLifeMs = 1_000;

/** The processors are first of all for the command that was let go. */
const fillDelayMs = 50;

export function createPreparedStock({ count, maxAgeMs, prepare }: PreparedStockOptions): PreparedStock {
  const waiting = new Set<Waiting>();
  const leaving = new Set<Promise<void>>();
  const closed = new AbortController();
  let filling: NodeJS.Timeout | undefined;

  const discard = (raised: Promise<Raised>): void => {
    const gone = raised
      .then(endRaised)
      .catch(() => {}) // it was not made: nothing to end
      .finally(() => leaving.delete(gone));
    leaving.add(gone);
  };
  /** False when it was removed already. */
  const remove = (one: Waiting): boolean => {
    clearTimeout(one.timer);
    return waiting.delete(one);
  };
  const drop = (one: Waiting): boolean => {
    const isOurs = remove(one);
    if (isOurs) discard(one.raised);
    return isOurs;
  };
  const weed = (basis: string): void => {
    for (const one of waiting) if (one.basis !== basis || hasDied(one)) drop(one);
  };
  const keep = (one: Waiting, raised: Raised): void => {
    if (!waiting.has(one)) return;
    one.ready = raised;
    one.readyAt = performance.now();
    one.timer = setTimeout(() => {
      if (drop(one)) fill();
    }, maxAgeMs);
    raised.launched.exited.then(() => {
      if (drop(one) && performance.now() - one.readyAt >= leastLifeMs) fill();
    });
  };
  const add = (): void => {
    const one: Waiting = { ...prepare(closed.signal), ready: undefined, readyAt: 0, timer: undefined };
    waiting.add(one);
    one.raised.then(
      (raised) => keep(one, raised),
      () => remove(one),
    );
  };
  const topUp = (): void => {
    closed.signal.throwIfAborted();
    while (waiting.size < count) add();
  };
  const fill = (): void => {
    clearTimeout(filling);
    filling = undefined;
    try {
      topUp();
    } catch {
      // closed, or what is asked for cannot be had now: the next start says so
    }
  };
  return {
    take: (basis) => {
      weed(basis);
      const [one] = waiting;
      if (one !== undefined) remove(one);
      return one?.raised;
    },
    discard,
    fill,
    fillSoon: () => {
      if (!closed.signal.aborted) filling ??= setTimeout(fill, fillDelayMs);
    },
    whenFull: async (basis) => {
      weed(basis);
      topUp();
      await Promise.all([...waiting].map(({ raised }) => raised));
    },
    close: async () => {
      closed.abort(new ConfinementError("STARTER_CLOSED", "the prepared sandboxes were closed"));
      clearTimeout(filling);
      for (const one of waiting) drop(one);
      await Promise.all(leaving);
    },
  };
}

/** Asked of the kernel: Node tells of an end only later. */
function hasDied({ ready }: Waiting): boolean {
  return ready !== undefined && ![ready.launched.outer, ready.identity.init, ready.command].every(isAlive);
}
