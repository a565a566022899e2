import type { Receipt } from "./entry.js";
import type { ChainError } from "./errors.js";
import type { SegmentFile, SegmentFiles } from "./segment-file.js";
import type { NewSegment, Sequenced } from "./sequencer.js";

/** Someone who waits for an entry, or for what was written so far. */
export interface Waiter {
  done(): void;
  failed(error: ChainError): void;
}

/** Hears of each part that is in the hands of the system: who waited for it, and its last entry. */
export type OnWritten = (waiters: readonly Waiter[], last: Receipt) => void;

/** What could not be written, and why. */
interface WriteFault {
  readonly cause: unknown;
  readonly waiters: readonly Waiter[];
}

/** Gathers lines, and writes them to one segment file after another. */
export interface Writer {
  readonly gatheredBytes: number;
  gather(entry: Sequenced, waiter: Waiter): void;
  /**
   * Writes what was gathered, and tells of each part as it is written.
   * After a fault the writer must not be used to write again: its lines have numbers that are now missing.
   */
  write(onWritten: OnWritten): WriteFault | undefined;
  /** Resolves when what was written is on stable storage. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Lines for one file. */
interface Batch {
  readonly begun: NewSegment | undefined;
  readonly texts: string[];
  readonly waiters: Waiter[];
  last: Receipt;
}

/** A writer that goes on in an open file. */
export function createWriter(files: SegmentFiles, first: SegmentFile): Writer {
  let file = first;
  let batches: Batch[] = [];
  let gatheredBytes = 0;

  const gather = (entry: Sequenced, waiter: Waiter): void => {
    gatheredBytes += entry.byteLength;
    const current = batches.at(-1);
    if (current === undefined || entry.begun !== undefined) {
      batches.push({ begun: entry.begun, texts: [entry.text], waiters: [waiter], last: entry.receipt });
      return;
    }
    current.texts.push(entry.text);
    current.waiters.push(waiter);
    current.last = entry.receipt;
  };
  const roll = (name: string): void => {
    // Synced whatever the durability: a later segment on the disk without all of this one would be a gap.
    file.syncNow();
    // Made before the old one is closed: where that fails, the old one is still to be synced and closed.
    const next = files.create(name);
    file.close().catch(() => {}); // synced: an error in closing it takes nothing away
    file = next;
  };
  const writeBatch = ({ begun, texts }: Batch): void => {
    if (begun !== undefined) roll(begun.name);
    file.write(Buffer.from((begun?.text ?? "") + texts.join("")));
  };
  const write = (onWritten: OnWritten): WriteFault | undefined => {
    const due = batches;
    batches = [];
    gatheredBytes = 0;
    for (const [index, batch] of due.entries()) {
      try {
        writeBatch(batch);
      } catch (cause) {
        return { cause, waiters: due.slice(index).flatMap(({ waiters }) => waiters) };
      }
      onWritten(batch.waiters, batch.last);
    }
    return undefined;
  };

  return {
    get gatheredBytes() {
      return gatheredBytes;
    },
    gather,
    write,
    sync: () => file.sync(),
    close: () => file.close(),
  };
}
