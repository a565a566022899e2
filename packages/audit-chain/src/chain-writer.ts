import { abortable } from "./abortable.js";
import type { Chain, RecoveredTail, WaitOptions } from "./chain.js";
import type { ChainSettings } from "./chain-settings.js";
import { type Committer, createCommitter } from "./commit.js";
import type { EntryInput, Receipt } from "./entry.js";
import { ChainError } from "./errors.js";
import type { Lock } from "./lock.js";
import type { RecoveredLog } from "./recover.js";
import type { SegmentFile, SegmentFiles } from "./segment-file.js";
import { createSequencer, type Sequenced, type Sequencer } from "./sequencer.js";
import type { Schedule } from "./sync-queue.js";
import { createWriter } from "./writer.js";

/** What a chain uses from its first entry to its last. It owns the lock once it has started. */
export interface WriterParts {
  readonly files: SegmentFiles;
  readonly lock: Lock;
  readonly schedule: Schedule;
}

/** Goes on with a log that was read back, or begins one. */
export async function startChain(settings: ChainSettings, log: RecoveredLog, parts: WriterParts): Promise<Chain> {
  const { durability, syncMs, maxWaiting } = settings;
  const reopened = log.segment === undefined ? undefined : parts.files.reopen(log.segment);
  const sequencer = createSequencer(settings, log.state, reopened?.size ?? 0);
  const writer = createWriter(parts.files, reopened ?? beginFile(sequencer, parts.files));
  const { schedule } = parts;
  const committer = createCommitter({ writer, durability, syncMs, maxWaiting, schedule, head: sequencer.head });
  const chain = createChain(settings.logId, log.tail, { sequencer, committer, lock: parts.lock });
  try {
    if (log.tail !== undefined) await chain.append(recoveryEntry(log.tail));
    if (durability === "each") await chain.flush();
    return chain;
  } catch (error) {
    await chain.close().catch(() => {}); // the first error is the one that matters
    throw error;
  }
}

function beginFile(sequencer: Sequencer, files: SegmentFiles): SegmentFile {
  const { name, text } = sequencer.begin();
  const file = files.create(name);
  try {
    file.write(Buffer.from(text));
    return file;
  } catch (error) {
    file.close().catch(() => {}); // the first error is the one that matters
    throw error;
  }
}

function recoveryEntry({ segment, offset, byteLength }: RecoveredTail): EntryInput {
  return { type: "log.recovered", segment, offset, droppedBytes: byteLength };
}

function release(lock: Lock, logId: string): void {
  try {
    lock.release();
  } catch (cause) {
    throw new ChainError("WRITE_FAILED", `the lock of the log ${logId} could not be marked as released`, { cause });
  }
}

interface ChainInside {
  readonly sequencer: Sequencer;
  readonly committer: Committer;
  readonly lock: Lock;
}

function createChain(logId: string, recovered: RecoveredTail | undefined, inside: ChainInside): Chain {
  const { sequencer, committer, lock } = inside;
  let closing: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    try {
      await committer.close();
    } finally {
      release(lock, logId);
    }
  };
  const close = (): Promise<void> => (closing ??= end());
  const refusal = (signal: AbortSignal | undefined): unknown => {
    if (closing !== undefined) return new ChainError("CHAIN_CLOSED", `the log ${logId} was closed`);
    return signal?.aborted === true ? signal.reason : committer.refusal();
  };
  const append = (input: EntryInput, { signal }: WaitOptions = {}): Promise<Receipt> => {
    const refused = refusal(signal);
    if (refused !== undefined) return Promise.reject(refused);
    let entry: Sequenced;
    try {
      entry = sequencer.next(input);
    } catch (error) {
      return Promise.reject(error);
    }
    return abortable(committer.add(entry), signal);
  };
  const flush = async ({ signal }: WaitOptions = {}): Promise<void> => {
    signal?.throwIfAborted();
    if (closing !== undefined) throw new ChainError("CHAIN_CLOSED", `the log ${logId} was closed`);
    await abortable(committer.flush(), signal);
  };
  return {
    logId,
    recovered,
    append,
    flush,
    close,
    [Symbol.asyncDispose]: close,
    get head() {
      return committer.head;
    },
  };
}
