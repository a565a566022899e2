import { isAlive } from "../identity/process-identity.js";
import { endRaised, type Raised } from "../start/raise-sandbox.js";

/** A sandbox that is being made, or waits. */
export interface Preparation {
  /** What it was made for: another one is not to get it. */
  readonly basis: string;
  readonly raised: Promise<Raised>;
}

/** Sandboxes that wait for a command, the oldest first. */
export interface WaitingSandboxes {
  readonly size: () => number;
  add(preparation: Preparation): void;
  /** Ends those of another basis, and those that died. */
  weed(basis: string): void;
  /** Whoever takes it ends it, by `discard` unless it is let go. */
  takeFirst(): Promise<Raised> | undefined;
  discard(raised: Promise<Raised>): void;
  /** Ends all, and resolves when these and the discarded ones are gone. */
  clear(): Promise<void>;
}

export interface WaitingOptions {
  readonly maxAgeMs: number;
  /** Told when one that was ready grew too old or died, but not when it died at once: the next one would, too. */
  readonly onLoss: () => void;
}

interface Waiting extends Preparation {
  /** Set while it is ready. */
  ready: Raised | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** One that dies earlier than this died at once. */
const leastLifeMs = 1_000;

export function createWaitingSandboxes({ maxAgeMs, onLoss }: WaitingOptions): WaitingSandboxes {
  const waiting = new Set<Waiting>();
  const leaving = new Set<Promise<void>>();

  const discard = (raised: Promise<Raised>): void => {
    const gone = held(raised)
      .then(endRaised)
      .catch(() => {}) // it was not made: nothing to end
      .finally(() => leaving.delete(gone));
    leaving.add(gone);
  };
  /** False when it was taken or dropped already. */
  const remove = (one: Waiting): boolean => {
    clearTimeout(one.timer);
    return waiting.delete(one);
  };
  const drop = (one: Waiting): boolean => {
    const isOurs = remove(one);
    if (isOurs) discard(one.raised);
    return isOurs;
  };
  const keep = (one: Waiting, raised: Raised): void => {
    if (!waiting.has(one)) return;
    const readyAt = performance.now();
    one.ready = raised;
    raised.launched.keepsAlive(false);
    one.timer = setTimeout(() => {
      if (drop(one)) onLoss();
    }, maxAgeMs).unref();
    raised.launched.exited.then(() => {
      if (drop(one) && performance.now() - readyAt >= leastLifeMs) onLoss();
    });
  };
  return {
    size: () => waiting.size,
    add: (preparation) => {
      const one: Waiting = { ...preparation, ready: undefined, timer: undefined };
      waiting.add(one);
      one.raised.then(
        (raised) => keep(one, raised),
        () => remove(one),
      );
    },
    weed: (basis) => {
      for (const one of waiting) if (one.basis !== basis || hasDied(one)) drop(one);
    },
    takeFirst: () => {
      const [one] = waiting;
      if (one === undefined) return undefined;
      remove(one);
      return held(one.raised);
    },
    discard,
    clear: async () => {
      for (const one of waiting) drop(one);
      await Promise.all(leaving);
    },
  };
}

/** From now on it is somebody's, and keeps the program alive. */
async function held(raised: Promise<Raised>): Promise<Raised> {
  const one = await raised;
  one.launched.keepsAlive(true);
  return one;
}

/** Asked of the kernel: Node tells of an end only later. */
function hasDied({ ready }: Waiting): boolean {
  return ready !== undefined && ![ready.launched.outer, ready.identity.init, ready.command].every(isAlive);
}
