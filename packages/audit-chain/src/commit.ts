import type { Head, Receipt } from "./entry.js";
import { ChainError } from "./errors.js";
import { createFailures } from "./failures.js";
import { createLineOutput, type OutputParts } from "./line-output.js";
import type { Sequenced } from "./sequencer.js";
import type { Waiter } from "./writer.js";

/** What a committer works with. */
export interface CommitParts extends OutputParts {
  /** Entries that may wait for a sync at once. */
  readonly maxWaiting: number;
}

/** Decides when appends resolve, and with what. */
export interface Committer {
  /** Why no entry can be taken now, if so: `CHAIN_FAILED` or `CHAIN_BUSY`. */
  refusal(): ChainError | undefined;
  /** Resolves as the durability says; rejects with `WRITE_FAILED`. */
  add(entry: Sequenced): Promise<Receipt>;
  /** Resolves when all that was added is on stable storage; rejects with `WRITE_FAILED` or `CHAIN_FAILED`. */
  flush(): Promise<void>;
  /** The same, then closes the file. Rejects when something was lost of which no one has been told. */
  close(): Promise<void>;
  readonly head: Head;
}

const nobody: Waiter = { done: () => {}, failed: () => {} };

/** Group commit. A state machine: what an append gets depends on what the disk said to those before it. */
export function createCommitter(parts: CommitParts): Committer {
  const { durability, maxWaiting } = parts;
  const failures = createFailures();
  const output = createLineOutput(parts, failures);
  let waitingCount = 0;

  const refusal = (): ChainError | undefined => {
    if (failures.lasting !== undefined) {
      failures.tell();
      return failures.lasting;
    }
    if (waitingCount < maxWaiting) return undefined;
    return new ChainError("CHAIN_BUSY", `${waitingCount} entries wait for a sync; the limit is ${maxWaiting}`);
  };
  const addWaiting = (entry: Sequenced): Promise<Receipt> =>
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
      output.gather(entry, { done, failed });
    });
  const add = (entry: Sequenced): Promise<Receipt> => {
    if (durability !== "none") return addWaiting(entry);
    output.gather(entry, nobody);
    return Promise.resolve(entry.receipt);
  };
  const flush = async (): Promise<void> => {
    output.write();
    const error = failures.tell() ?? (await output.synced());
    if (error !== undefined) throw error;
  };
  const close = async (): Promise<void> => {
    output.write();
    const known = failures.lasting !== undefined;
    // Also after a failed write: what the system took before it may have been acknowledged.
    const lost = await output.synced();
    // Nothing is taken away by a failure to close what was synced, and a failure to sync is told below.
    await output.close().catch(() => {});
    const error = failures.untold ?? (known ? undefined : lost);
    if (error !== undefined) throw error;
  };

  return {
    refusal,
    add,
    flush,
    close,
    get head() {
      return output.head;
    },
  };
}
