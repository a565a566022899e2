import type { LeaseEndReason, LeaseRecord, LeaseState } from "./lease.js";

/** What changes in one write; `undefined` members stay as they are. */
export interface LeaseChange {
  readonly state?: LeaseState | undefined;
  /** Only with the step to `active`. */
  readonly owner?: string | undefined;
  readonly expiresAt?: number | undefined;
  readonly ceilingAt?: number | undefined;
  readonly idleMs?: number | undefined;
  readonly lastUsedAt?: number | undefined;
  readonly cleanupAttempts?: number | undefined;
  readonly endReason?: LeaseEndReason | undefined;
  /** With the step to `released` or `lost`, and only then. */
  readonly endedAt?: number | undefined;
  readonly lastError?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** Which rows; members that are named must all fit. */
export interface LeaseFilter {
  readonly owner?: string | undefined;
  readonly states?: readonly LeaseState[] | undefined;
}

/**
 * Where leases are written down. One writer: a second `open` of the same store rejects with `STORE_LOCKED`. A resolved
 * write is on disk. Every implementation passes `leaseStoreContract` (`/contract`).
 */
export interface LeaseStore {
  /** Writes a new row, generation 1. Rejects when the id or the worker's name exists. */
  insert(record: LeaseRecord): Promise<void>;
  /**
   * Compare and set: applies `change` and adds 1 to the generation when it is `generation`. Rejects with
   * `LEASE_NOT_FOUND`, `LEASE_ENDED` (terminal rows never change), or `GENERATION_STALE`, looked at in this order, and with
   * a plain Error for a change that no lease makes (`changeRecord` does all but the first). A rejected write wrote nothing,
   * or, with `STORE_FAILED`, may have: read the row before the next.
   */
  update(id: string, generation: number, change: LeaseChange): Promise<LeaseRecord>;
  /** Only `lastUsedAt`; may be lost by a crash, does not change the generation, and is cheap. Nothing for a terminal or unknown row, or once closed. */
  touch(id: string, lastUsedAt: number): void;
  get(id: string): Promise<LeaseRecord | undefined>;
  /** In order of creation. */
  list(filter?: LeaseFilter): Promise<readonly LeaseRecord[]>;
  /** Rows in `active` or `reserved` whose expiry or idle time has passed (`dueReason`), and rows in `releasing`. In order of creation. */
  listDue(now: number): Promise<readonly LeaseRecord[]>;
  /** Removes terminal rows whose `endedAt` is before; returns how many. */
  prune(endedBefore: number): Promise<number>;
  /** May be called again. Later calls of the others reject with `STORE_CLOSED`. */
  close(): Promise<void>;
}
