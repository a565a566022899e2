import type { Durability } from "./chain.js";
import type { Head, Receipt } from "./entry.js";
import { ChainError } from "./errors.js";
import type { Sequenced } from "./sequencer.js";
import { createSyncQueue, type Schedule } from "./sync-queue.js";
import type { Waiter, Writer } from "./writer.js";

/** What a committer works with. */
export interface CommitParts {
  readonly writer: Writer;
  readonly durability: Durability;
  readonly syncMs: number;
  readonly maxWaiting: number;
  readonly schedule: Schedule;
  /** Where the log stands now. */
  readonly head: Head;
}

/** Decides when lines are written and synced, and when their appends resolve. Knows of every failure. */
export interface Committer {
  /** Why no entry can be taken now, if so. */
  refusal(): ChainError | undefined;
  add(entry: Sequenced): Promise<Receipt>;
  /** Resolves when all that was added is on stable storage. */
  flush(): Promise<void>;
  /** The same, then closes the file. Rejects when something was lost of which no one has been told. */
  close(): Promise<void>;
  readonly head: Head;
}

const maxGatheredBytes = 1024 * 1024;
const nobody: Waiter = { done: () => {}, failed: () => {} };

/**
 * Group commit. Lines of one turn are written together, synchronously: a write into the page cache takes a few
 * microseconds, a trip through the thread pool many times that (bench/chain.bench.mjs), and no append can be
 * overtaken by a failure. A state machine: what an append gets depends on what the disk said to those before it.
 */
export function createCommitter({
  writer,
  durability,
  syncMs,
  maxWaiting,
  schedule,
  head: start,
}: CommitParts): Committer {
  let head = start;
  let writtenHead = start;
  let failure: ChainError | undefined;
  let untold: ChainError | undefined;
  let turnDue = false;
  let waitingCount = 0;

  const fault = (cause: unknown): ChainError => {
    const why = cause instanceof Error ? cause.message : String(cause);
    failure ??= new ChainError("CHAIN_FAILED", `an earlier entry could not be kept, so none may follow: ${why}`, {
      cause,
    });
    head = writtenHead;
    return new ChainError("WRITE_FAILED", `the entry could not be kept: ${why}`, { cause });
  };
  const syncs = createSyncQueue({ sync: () => writer.sync(), fault, schedule, delayMs: syncMs });
  const later: Waiter = {
    done: () => {},
    failed: (error) => {
      untold = error;
    },
  };

  const write = (): void => {
    turnDue = false;
    const lost = writer.write(({ waiters, last }) => {
      writtenHead = last;
      if (durability === "each") syncs.wait(waiters);
      else for (const waiter of waiters) waiter.done();
      if (durability === "batch") syncs.waitLater(later);
    });
    if (lost === undefined) return;
    const error = fault(lost.cause);
    if (durability === "none") untold = error;
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
  const told = (error: ChainError | undefined): ChainError | undefined => {
    if (error !== undefined) untold = undefined;
    return error;
  };
  const synced = (): Promise<void> => new Promise((done, failed) => syncs.wait([{ done, failed }]));
  const flush = async (): Promise<void> => {
    write();
    const error = told(untold ?? failure);
    if (error !== undefined) throw error;
    await synced();
  };
  const close = async (): Promise<void> => {
    write();
    syncs.close();
    const known = failure !== undefined;
    // Also after a failed write: what the system took before it may have been acknowledged.
    const lost = await synced().then(
      () => undefined,
      (error: unknown) => error,
    );
    await writer.close();
    const error = untold ?? (known ? undefined : lost);
    if (error !== undefined) throw error;
  };

  return {
    refusal: () => {
      if (failure !== undefined) return told(failure);
      if (waitingCount < maxWaiting) return undefined;
      return new ChainError("CHAIN_BUSY", `${waitingCount} entries wait for a sync; the limit is ${maxWaiting}`);
    },
    add: (entry) => {
      const { receipt } = entry;
      if (durability === "none") {
        gather(entry, nobody);
        return Promise.resolve(receipt);
      }
      waitingCount += 1;
      return new Promise((resolve, reject) => {
        const done = (): void => {
          waitingCount -= 1;
          resolve(receipt);
        };
        const failed = (error: ChainError): void => {
          waitingCount -= 1;
          reject(error);
        };
        gather(entry, { done, failed });
      });
    },
    flush,
    close,
    get head() {
      return head;
    },
  };
}
