import { SessionError } from "./errors.js";

/** Turns in the order in which they were asked for, one at a time. */
export interface CallLine {
  /** Resolves when it is this one's turn, with what ends the turn. Rejects with `QUEUE_FULL`, the signal's reason, or the cause of `close`. */
  enter(signal: AbortSignal | undefined): Promise<() => void>;
  readonly queued: number;
  readonly busy: boolean;
  /** Rejects all that wait and all that come. */
  close(cause: unknown): void;
}

interface Waiting {
  readonly start: () => void;
  readonly fail: (cause: unknown) => void;
}

export function createCallLine(maxQueued: number): CallLine {
  let waiting: Waiting[] = [];
  let busy = false;
  let closed: { readonly cause: unknown } | undefined;

  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) busy = false;
    else next.start();
  };
  const turn = (): (() => void) => {
    busy = true;
    let left = false;
    return () => {
      if (!left) leave();
      left = true;
    };
  };
  return {
    async enter(signal) {
      signal?.throwIfAborted();
      if (closed !== undefined) throw closed.cause;
      if (!busy) return turn();
      if (waiting.length >= maxQueued) {
        throw new SessionError("QUEUE_FULL", `${maxQueued} calls wait in this session already (maxQueued)`);
      }
      return new Promise((resolve, reject) => {
        const onAbort = (): void => {
          waiting = waiting.filter((one) => one !== entry);
          reject(signal?.reason);
        };
        const settled = (): void => signal?.removeEventListener("abort", onAbort);
        const entry: Waiting = {
          start() {
            settled();
            resolve(turn());
          },
          fail(cause) {
            settled();
            reject(cause);
          },
        };
        waiting.push(entry);
        signal?.addEventListener("abort", onAbort, { once: true });
      });
    },
    get queued() {
      return waiting.length;
    },
    get busy() {
      return busy;
    },
    close(cause) {
      closed ??= { cause };
      const failed = waiting;
      waiting = [];
      for (const { fail } of failed) fail(cause);
    },
  };
}
