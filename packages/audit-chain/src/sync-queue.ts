import type { ChainError } from "./errors.js";
import type { Waiter } from "./writer.js";

/** Runs a function later; the answer calls it off. */
export type Schedule = (run: () => void, delayMs: number) => () => void;

/** How to sync, and what to say when that fails. */
export interface SyncParts {
  sync(): Promise<void>;
  fault(cause: unknown): ChainError;
  readonly schedule: Schedule;
  readonly delayMs: number;
}

/** Syncs for many at once: whoever comes while a sync runs shares the next one. */
export interface SyncQueue {
  wait(waiters: readonly Waiter[]): void;
  /** A sync within `delayMs`; one that is already due is enough. */
  waitLater(waiter: Waiter): void;
  /** Calls off a later sync. */
  close(): void;
}

/** A queue over one file after another; `sync` means the current one. */
export function createSyncQueue({ sync, fault, schedule, delayMs }: SyncParts): SyncQueue {
  let waiting: Waiter[] = [];
  let running = false;
  let cancel: (() => void) | undefined;
  let broken: ChainError | undefined;

  const round = async (waiters: readonly Waiter[]): Promise<void> => {
    try {
      // After a failed sync the system may call the next one good without having written anything.
      if (broken !== undefined) throw broken;
      await sync();
    } catch (cause) {
      broken ??= fault(cause);
      for (const waiter of waiters) waiter.failed(broken);
      return;
    }
    for (const waiter of waiters) waiter.done();
  };
  const run = async (): Promise<void> => {
    if (running) return;
    running = true;
    while (waiting.length > 0) {
      const waiters = waiting;
      waiting = [];
      await round(waiters);
    }
    running = false;
  };
  const wait = (waiters: readonly Waiter[]): void => {
    for (const waiter of waiters) waiting.push(waiter);
    void run();
  };

  return {
    wait,
    waitLater: (waiter) => {
      cancel ??= schedule(() => {
        cancel = undefined;
        wait([waiter]);
      }, delayMs);
    },
    close: () => {
      cancel?.();
      cancel = undefined;
    },
  };
}
