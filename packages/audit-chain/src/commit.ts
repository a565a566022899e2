import type { Durability } from "./chain.js";
import type { Head, Receipt } from "./entry.js";
import { ChainError } from "./errors.js";
import { createFailures } from "./failures.js";
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
export function createCommitter(parts: CommitParts): Committer {
  const { writer, durability, maxWaiting } = parts;
  let head = parts.head;
  let writtenHead = parts.head;
  let turnDue = false;
  let waitingCount = 0;
  const failures = createFailures();
  const fault = (cause: unknown): ChainError => {
    head = writtenHead;
    return failures.record(cause);
  };
  const syncs = createSyncQueue({ sync: () => writer.sync(), fault, schedule: parts.schedule, delayMs: parts.syncMs });
  const later: Waiter = { done: () => {}, failed: failures.leaveUntold };

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
  const gatherWaiting = (entry: Sequenced): Promise<Receipt> =>
    new Promise((resolve, reject) => {
      waitingCount += 1;
      const done = (): void => {
        waitingCount -= 1;
        resolve(entry.receipt);
      };
      const failed = (error: ChainError): void => {
        waitingCount -= 1;
        reject(error);
      };
      gather(entry, { done, failed });
    });
  const synced = (): Promise<ChainError | undefined> =>
    new Promise((resolve) => syncs.wait([{ done: () => resolve(undefined), failed: resolve }]));

  return {
    refusal: () => {
      if (failures.lasting !== undefined) {
        failures.tell();
        return failures.lasting;
      }
      if (waitingCount < maxWaiting) return undefined;
      return new ChainError("CHAIN_BUSY", `${waitingCount} entries wait for a sync; the limit is ${maxWaiting}`);
    },
    add: (entry) => {
      if (durability !== "none") return gatherWaiting(entry);
      gather(entry, nobody);
      return Promise.resolve(entry.receipt);
    },
    flush: async () => {
      write();
      const error = failures.tell() ?? (await synced());
      if (error !== undefined) throw error;
    },
    close: async () => {
      write();
      syncs.close();
      const known = failures.lasting !== undefined;
      // Also after a failed write: what the system took before it may have been acknowledged.
      const lost = await synced();
      await writer.close();
      const error = failures.untold ?? (known ? undefined : lost);
      if (error !== undefined) throw error;
    },
    get head() {
      return head;
    },
  };
}
