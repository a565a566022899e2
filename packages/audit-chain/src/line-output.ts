import type { Durability } from "./chain.js";
import type { Head } from "./entry.js";
import type { ChainError } from "./errors.js";
import type { Failures } from "./failures.js";
import type { Sequenced } from "./sequencer.js";
import { createSyncQueue, type Schedule } from "./sync-queue.js";
import type { Waiter, Writer } from "./writer.js";

/** What an output works with. */
export interface OutputParts {
  readonly writer: Writer;
  readonly durability: Durability;
  /** Longest time between a write and its sync under `batch`, in milliseconds. */
  readonly syncMs: number;
  readonly schedule: Schedule;
  /** Where the log stands now. */
  readonly head: Head;
}

/** Decides when lines are written and synced, and tells those who wait for it. Puts every failure on record. */
export interface LineOutput {
  /** Takes an entry; it is written before this turn of the event loop ends. Throws nothing: `waiter` is told. */
  gather(entry: Sequenced, waiter: Waiter): void;
  /** Writes what was gathered, now. */
  write(): void;
  /** Resolves when all that was written is on stable storage, or with the reason why it is not. */
  synced(): Promise<ChainError | undefined>;
  /** Calls off a sync that is due, waits for the one that runs, and closes the file. */
  close(): Promise<void>;
  /** The last entry that was gathered; after a failure, the last that was written. */
  readonly head: Head;
}

const maxGatheredBytes = 1024 * 1024;

/**
 * Lines of one turn are written together, synchronously: a write into the page cache takes a few microseconds, a trip
 * through the thread pool many times that (bench/chain.bench.mjs), and no append can be overtaken by a failure.
 */
export function createLineOutput(parts: OutputParts, failures: Failures): LineOutput {
  const { writer, durability } = parts;
  let head = parts.head;
  let writtenHead = parts.head;
  let turnDue = false;

  const fault = (cause: unknown): ChainError => {
    head = writtenHead;
    return failures.record(cause);
  };
  const syncs = createSyncQueue({ sync: () => writer.sync(), fault, schedule: parts.schedule, delayMs: parts.syncMs });
  const later: Waiter = { done: () => {}, failed: failures.leaveUntold };
  const written = (waiters: readonly Waiter[], last: Head): void => {
    writtenHead = last;
    if (durability === "each") syncs.wait(waiters);
    else for (const waiter of waiters) waiter.done();
    if (durability === "batch") syncs.waitLater(later);
  };
  const write = (): void => {
    turnDue = false;
    const lost = writer.write(written);
    if (lost === undefined) return;
    const error = fault(lost.cause);
    if (durability === "none") failures.leaveUntold(error);
    for (const waiter of lost.waiters) waiter.failed(error);
  };
  const gather = (entry: Sequenced, waiter: Waiter): void => {
    head = entry.receipt;
    writer.gather(entry, waiter);
    if (writer.gatheredBytes > maxGatheredBytes) write();
    if (turnDue) return;
    turnDue = true;
    queueMicrotask(write);
  };
  const synced = (): Promise<ChainError | undefined> =>
    new Promise((resolve) => syncs.wait([{ done: () => resolve(undefined), failed: resolve }]));
  const close = (): Promise<void> => {
    syncs.close();
    return writer.close();
  };

  return {
    gather,
    write,
    synced,
    close,
    get head() {
      return head;
    },
  };
}
