import type { EntryInput, Head, Receipt } from "./entry.js";

/**
 * When `append` resolves, and so what a crash costs.
 * - `each`: once the entry is on stable storage (`fdatasync`). Entries that wait together share one sync.
 *   Neither a killed process nor a power loss costs an acknowledged entry.
 * - `batch`: once the operating system has it; a sync follows within `syncMs`.
 *   A killed process costs no acknowledged entry; a power loss costs at most the last `syncMs` plus one sync.
 * - `none`: at once; the bytes are written at the end of the current turn and never synced by the chain.
 *   A killed process costs what was appended in that turn; a power loss costs what the system had not written.
 */
export type Durability = "each" | "batch" | "none";

/** What `openChain` takes. */
export interface ChainOptions {
  /** The log's own folder; made (0700) when it is absent. Nothing else may write there. */
  readonly directory: string;
  /** Wall clock in milliseconds since 1970, such as `Date.now`. Whole, from 1970 to 9999. */
  now(): number;
  /** Default `batch`. */
  readonly durability?: Durability | undefined;
  /**
   * Monotonic clock in milliseconds from any origin, such as `() => performance.now()`. With it, steps of the wall
   * clock are flagged in either direction (also after a suspend, during which Linux stops its monotonic clock);
   * without it, only times that go back.
   */
  monotonic?(): number;
  /** Name of the log, kept in each segment: 1 to 128 of A-Z, a-z, 0-9, `.`, `_`, `-`, no leading dot. Default: the folder's name. */
  readonly logId?: string | undefined;
  /** A segment that would grow beyond this is ended and a new one begun, in bytes: 128 KiB to 1 GiB. Default 64 MiB. */
  readonly maxSegmentBytes?: number | undefined;
  /** Longest canonical form of one entry, in bytes: 1 KiB to 65,535 (what a tlog-tiles entry bundle can hold). Default 65,535. */
  readonly maxEntryBytes?: number | undefined;
  /** Entries that may wait for a sync under `each`: 1 to 1,000,000. Default 65,536; more reject with `CHAIN_BUSY`. */
  readonly maxWaiting?: number | undefined;
  /** Longest time between a write and its sync under `batch`, in milliseconds: 1 to 60,000. Default 50. */
  readonly syncMs?: number | undefined;
  /** Ends the opening (reading back a long log takes time); the folder is then left unlocked and as it was. */
  readonly signal?: AbortSignal | undefined;
}

/** For calls that wait. */
export interface WaitOptions {
  /** Ends the wait with `signal.reason`; what was appended stays appended. */
  readonly signal?: AbortSignal | undefined;
}

/** A torn last record that opening cut off: a write that a crash interrupted, never acknowledged as durable. */
export interface RecoveredTail {
  readonly segment: string;
  /** Where the record began; the segment now ends there. */
  readonly offset: number;
  readonly byteLength: number;
}

/** The single writer of one log. Owns its folder's lock and its file until it is closed. */
export interface Chain extends AsyncDisposable {
  readonly logId: string;
  /** The last entry that was appended, acknowledged or not. After a failure: the last that is known to be in the log. */
  readonly head: Head;
  /** What opening cut off, if anything. The log has an entry `log.recovered` about it. */
  readonly recovered: RecoveredTail | undefined;
  /**
   * Adds an entry. It gets its number, time and hash before this function returns, so call order is log order;
   * the promise resolves as the durability level says.
   *
   * A refused entry (`ENTRY_INVALID`, `NOT_I_JSON`, `ENTRY_TOO_LARGE`, `CHAIN_BUSY`) leaves no trace and the chain
   * goes on. After `WRITE_FAILED` (full disk, I/O error) it does not: everything later rejects with `CHAIN_FAILED`,
   * so that no gap can arise; close it and open it again. An entry whose append was rejected with `WRITE_FAILED` is
   * taken back from the file where the system allows it, and is otherwise whole or absent after the next open.
   * @throws {ChainError} as a rejection: the codes above, or `CHAIN_CLOSED`.
   */
  append(entry: EntryInput, options?: WaitOptions): Promise<Receipt>;
  /**
   * Resolves once everything appended so far is on stable storage, at any durability level. An aborted wait rejects
   * with `signal.reason`.
   * @throws {ChainError} as a rejection: `WRITE_FAILED`, `CHAIN_FAILED`, `CHAIN_CLOSED`.
   */
  flush(options?: WaitOptions): Promise<void>;
  /**
   * Writes and syncs what is left, releases file and lock. May be called again.
   * @throws {ChainError} as a rejection: `WRITE_FAILED`, only when entries that were acknowledged could not be kept
   *   (file and lock are released then too), or when the lock could not be marked as released.
   */
  close(): Promise<void>;
}
