import { LeaseError } from "../errors.js";

/** One at a time, in the order in which they came; a bounded number waits. */
export interface Fifo {
  /**
   * Resolves with what gives the turn back. Rejects with the signal's reason, with `QUEUE_FULL`, or with what it was closed with.
   */
  enter(signal: AbortSignal | undefined): Promise<() => void>;
  /** Who waits is refused with this, and who comes later. */
  close(error: LeaseError): void;
  /** Resolves when nobody has the turn. */
  idle(): Promise<void>;
  readonly isBusy: boolean;
}

interface Waiting {
  admit(): void;
  refuse(error: unknown): void;
}

export function createFifo(maxWaiting: number): Fifo {
  const waiting: Waiting[] = [];
  let idlers: (() => void)[] = [];
  let isBusy = false;
  let closed: LeaseError | undefined;
  const next = (): void => {
    const first = waiting.shift();
    first?.admit();
    if (first !== undefined) return;
    isBusy = false;
    for (const tell of idlers.splice(0)) tell();
  };
  const takeTurn = (): (() => void) => {
    isBusy = true;
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      next();
    };
  };
  return {
    async enter(signal) {
      signal?.throwIfAborted();
      if (closed !== undefined) throw closed;
      if (!isBusy) return takeTurn();
      if (waiting.length >= maxWaiting) {
        throw new LeaseError("QUEUE_FULL", `${maxWaiting} operations wait in this lease already (maxQueued)`);
      }
      return waitIn(waiting, takeTurn, signal);
    },
    close(error) {
      closed ??= error;
      for (const entry of waiting.splice(0)) entry.refuse(closed);
    },
    idle: () =>
      new Promise((resolve) => {
        if (isBusy) idlers = [...idlers, resolve];
        else resolve();
      }),
    get isBusy() {
      return isBusy;
    },
  };
}

function waitIn(waiting: Waiting[], takeTurn: () => () => void, signal: AbortSignal | undefined): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => signal?.removeEventListener("abort", abort);
    const abort = (): void => {
      waiting.splice(waiting.indexOf(entry), 1);
      reject(signal?.reason);
    };
    const entry: Waiting = {
      admit() {
        leave();
        resolve(takeTurn());
      },
      refuse(error) {
        leave();
        reject(error);
      },
    };
    waiting.push(entry);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
