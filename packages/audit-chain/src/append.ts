import { randomBytes } from "node:crypto";
import type { Chain, ChainOptions } from "./chain.js";
import { type ChainSettings, readSettings } from "./chain-settings.js";
import { startChain } from "./chain-writer.js";
import { ChainError } from "./errors.js";
import { takeFlock } from "./flock.js";
import { type Lock, takeLock } from "./lock.js";
import { makeFolder } from "./make-folder.js";
import { ownIdentity } from "./owner.js";
import { recoverLog } from "./recover.js";
import { type SegmentFiles, segmentFilesIn } from "./segment-file.js";
import type { Schedule } from "./sync-queue.js";

/** What an opening takes from the machine. */
export interface ChainParts {
  files(directory: string): SegmentFiles;
  lock(directory: string, since: string): Promise<Lock>;
  readonly schedule: Schedule;
}

const machine: ChainParts = {
  files: segmentFilesIn,
  lock: (directory, since) =>
    takeLock(directory, { self: ownIdentity(since), takeFlock, randomName: () => randomBytes(8).toString("hex") }),
  schedule: (run, delayMs) => {
    // Not kept alive for: what a batch still has to sync is with the system, and the process may end.
    const timer = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Opens a log for writing, or begins one. Reads back what is there: a torn last record is cut off, any other damage
 * is refused. There is one writer at a time; a second gets `LOCKED`, which names the owner.
 * @throws {ChainError} `OPTIONS_INVALID`, `LOCKED`, `LOG_DAMAGED` with its place, `LOG_ID_MISMATCH`, `OPEN_FAILED`.
 */
export function openChain(options: ChainOptions): Promise<Chain> {
  return openChainWith(options, machine);
}

/** `openChain` on other parts than the machine's own. */
export async function openChainWith(options: ChainOptions, parts: ChainParts): Promise<Chain> {
  const settings = readSettings(options);
  settings.signal?.throwIfAborted();
  const { directory } = settings;
  try {
    await makeFolder(directory);
    const lock = await parts.lock(directory, settings.since);
    return await openLocked(settings, parts, lock);
  } catch (cause) {
    settings.signal?.throwIfAborted();
    if (!(cause instanceof ChainError)) throw openFailed(directory, cause);
    throw cause.code === "READ_FAILED" ? openFailed(directory, cause.cause ?? cause) : cause;
  }
}

function openFailed(directory: string, cause: unknown): ChainError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ChainError("OPEN_FAILED", `the log in ${directory} cannot be opened: ${why}`, { cause });
}

async function openLocked(settings: ChainSettings, parts: ChainParts, lock: Lock): Promise<Chain> {
  const { directory, logId, signal } = settings;
  const files = parts.files(directory);
  try {
    const recovered = await recoverLog({ directory, logId, files, signal });
    return await startChain(settings, recovered, { files, lock, schedule: parts.schedule });
  } catch (error) {
    releaseQuietly(lock);
    throw error;
  }
}

function releaseQuietly(lock: Lock): void {
  try {
    lock.release();
  } catch {
    // The error that ended the opening is the one that matters.
  }
}
