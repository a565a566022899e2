import type { LeaseRecord, LeaseState } from "./lease.js";

/** What changes in one write; `undefined` members stay as they are. */
export interface LeaseChange {
  readonly state?: LeaseState;
  readonly owner?: string;
  readonly expiresAt?: number;
  readonly ceilingAt?: number;
  readonly idleMs?: number | undefined;
  readonly lastUsedAt?: number;
  readonly cleanupAttempts?: number;
  readonly endReason?: LeaseRecord["endReason"];
  readonly lastError?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

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
   * `GENERATION_STALE`, `LEASE_NOT_FOUND`, or `LEASE_ENDED` (terminal rows never change). Checks the states' legal steps.
   */
  update(id: string, generation: number, change: LeaseChange): Promise<LeaseRecord>;
  /** Only `lastUsedAt`; may be lost by a crash, does not change the generation, and is cheap. */
  touch(id: string, lastUsedAt: number): void;
  get(id: string): Promise<LeaseRecord | undefined>;
  /** In order of creation. */
  list(filter?: LeaseFilter): Promise<readonly LeaseRecord[]>;
  /** Rows in `active` or `reserved` whose expiry or idle time has passed, and rows in `releasing`. */
  listDue(now: number): Promise<readonly LeaseRecord[]>;
  /** Removes terminal rows that ended before; returns how many. */
  prune(endedBefore: number): Promise<number>;
  close(): Promise<void>;
}
