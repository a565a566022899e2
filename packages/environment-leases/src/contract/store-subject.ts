import assert from "node:assert/strict";
import type { LeaseErrorCode } from "../errors.js";
import { isLeaseError } from "../errors.js";
import type { LeaseRecord } from "../lease.js";
import type { LeaseStore } from "../store.js";

/** A store of its own for one check, empty. */
export interface StoreSubject {
  readonly store: LeaseStore;
  /** Opens the same place again, after `store` was closed. Left out by stores that keep nothing. */
  readonly reopen?: (() => Promise<LeaseStore>) | undefined;
  /** Opens the same place while `store` is open: must reject with `STORE_LOCKED`. Left out by stores without a place. */
  readonly openSecond?: (() => Promise<LeaseStore>) | undefined;
  /** Frees what the check leaves. Closing `store` is not needed for it. */
  dispose?(): Promise<void> | void;
}

export type StoreCheck = (subject: StoreSubject) => Promise<void>;

/** A row with every member set to something that a careless store would lose. */
export function sampleRecord(number: number, changes: Partial<LeaseRecord> = {}): LeaseRecord {
  const digits = number.toString(16);
  return {
    id: digits.padStart(32, "0"),
    owner: `owner ü 'x' "y" ${number % 3}`,
    profile: "python",
    provider: "memory",
    worker: `mcp-${digits.padStart(24, "0")}`,
    state: "reserved",
    generation: 1,
    createdAt: 1_800_000_000_000 + number,
    expiresAt: 1_800_000_900_000 + number,
    ceilingAt: 1_800_086_400_000 + number,
    idleMs: number % 2 === 0 ? undefined : 60_000,
    lastUsedAt: 1_800_000_000_000 + number,
    host: "1:2:3",
    cleanupAttempts: 0,
    endReason: undefined,
    endedAt: undefined,
    lastError: undefined,
    labels: { name: "a\u0000b\n☃", empty: "" },
    ...changes,
  };
}

/** The members of a row that are set, in one order, so that stores may differ in the rest. */
export function shownRecord(record: LeaseRecord | undefined): unknown {
  if (record === undefined) return undefined;
  const { labels, ...rest } = record;
  const set = Object.entries(rest).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(set.sort()), labels: Object.fromEntries(Object.entries(labels).sort()) };
}

export function assertRecords(seen: readonly LeaseRecord[], expected: readonly LeaseRecord[], sentence: string): void {
  assert.deepEqual(seen.map(shownRecord), expected.map(shownRecord), sentence);
}

/** Waits for the rejection with this code; `undefined` for a plain Error, which is a bug's. */
export async function assertRefused(
  work: Promise<unknown>,
  code: LeaseErrorCode | undefined,
  sentence: string,
): Promise<void> {
  const [outcome] = await Promise.allSettled([work]);
  if (outcome?.status !== "rejected") assert.fail(`${sentence}: it was not refused`);
  const error: unknown = outcome.reason;
  assert.equal(isLeaseError(error) ? error.code : undefined, code, sentence);
}
