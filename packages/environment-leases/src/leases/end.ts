import { LeaseError } from "../errors.js";
import { isTerminal, type LeaseEndReason, type LeaseRecord } from "../lease.js";
import type { LeaseChange } from "../store.js";
import { settlesWithin } from "../waits.js";
import { confirmAbsence } from "./absence.js";
import { type Ending, endedError, type Row } from "./row.js";
import type { Rows } from "./rows.js";
import type { LeasesTerms } from "./terms.js";

const firstRetryMs = 1_000;
const lastRetryMs = 300_000;
const maxDoublings = 20;

/** Ends leases: `releasing` → running work is interrupted → destroyed → its absence seen → `released`. */
export interface Ender {
  /**
   * Begins, or goes on where an earlier attempt could not confirm; who calls meanwhile shares the attempt. No new work is
   * accepted from the moment of the call.
   * @throws {LeaseError} `CLEANUP_UNCONFIRMED` or `STORE_FAILED`: a sweep tries again.
   */
  end(row: Row, reason: LeaseEndReason): Promise<void>;
  /** The same for who does not wait. */
  endBehind(row: Row, reason: LeaseEndReason): void;
  /** Writes down that a worker is gone by itself; everything of it was removed before. */
  lose(row: Row): Promise<void>;
  /** No grace and no retries from now on: the process is about to end. */
  hurry(graceMs: number): void;
}

export function createEnder(rows: Rows, terms: LeasesTerms, whenDue: (delayMs: number) => void): Ender {
  const parts: EnderParts = { rows, terms, whenDue, graceMs: terms.limits.graceMs };
  const end = (row: Row, reason: LeaseEndReason): Promise<void> => {
    const { state, endReason, cleanupAttempts } = row.record;
    const first = state === "releasing" ? (endReason ?? reason) : reason;
    const ending = row.ending ?? { reason: first, attempts: cleanupAttempts, retryAt: 0, underWay: undefined };
    row.ending = ending;
    row.queue.close(endedError(row.id, ending.reason));
    ending.underWay ??= attempt(parts, row, ending).finally(() => {
      ending.underWay = undefined;
    });
    return ending.underWay;
  };
  return {
    end,
    endBehind: (row, reason) => void end(row, reason).catch(terms.onFault),
    lose: (row) => lose(parts, row),
    hurry(graceMs) {
      parts.graceMs = Math.min(parts.graceMs, graceMs);
    },
  };
}

interface EnderParts {
  readonly rows: Rows;
  readonly terms: LeasesTerms;
  readonly whenDue: (delayMs: number) => void;
  graceMs: number;
}

async function attempt(parts: EnderParts, row: Row, ending: Ending): Promise<void> {
  const { reason } = ending;
  await markReleasing(row, reason).catch(parts.terms.onFault); // written below: work is stopped also when the store fails
  await interrupt(parts, row, reason);
  const fault = await confirmAbsence(row, parts.terms);
  if (fault !== undefined) {
    await noteFailure(parts, row, ending, fault);
    throw new LeaseError("CLEANUP_UNCONFIRMED", `the worker of lease ${row.id} may still exist: ${fault}`, {
      cure: "Nothing: it is tried again in the background, and stays in the list as releasing until its absence is seen.",
    });
  }
  try {
    const lease = await writeReleased(parts, row, reason);
    finish(parts, row, reason);
    void row.tell({ kind: "released", lease, isolated: isIsolated(row) });
  } catch (error) {
    // A row that was never written, because its first write failed, has no end to write.
    if (row.writes.isAbsent) return finish(parts, row, reason);
    await noteFailure(parts, row, ending, "its end was not written down");
    throw error;
  }
}

async function markReleasing(row: Row, endReason: LeaseEndReason): Promise<void> {
  let isNew = false;
  const lease = await row.writes.write(({ state }) => {
    isNew = state === "reserved" || state === "active";
    return isNew ? { state: "releasing", endReason } : undefined;
  });
  if (isNew) void row.tell({ kind: "releasing", lease, isolated: isIsolated(row) });
}

async function interrupt({ terms, graceMs }: EnderParts, row: Row, reason: LeaseEndReason): Promise<void> {
  const gone = endedError(row.id, reason);
  row.interruptor.abort(gone);
  const isWorking = row.queue.isBusy && row.workerEnd === undefined && !row.killer.signal.aborted;
  if (isWorking && graceMs > 0) {
    await settlesWithin(Promise.race([row.queue.idle(), row.environment?.ended]), graceMs, terms.scheduler);
  }
  row.killer.abort(gone);
  for (const opened of row.opened) void opened.close().catch(() => undefined); // it goes with its environment
  row.opened.clear();
}

async function noteFailure({ terms, whenDue }: EnderParts, row: Row, ending: Ending, lastError: string): Promise<void> {
  ending.attempts += 1;
  const delay = Math.min(lastRetryMs, firstRetryMs * 2 ** Math.min(ending.attempts - 1, maxDoublings));
  ending.retryAt = terms.scheduler.now() + delay;
  whenDue(delay);
  const change: LeaseChange = { cleanupAttempts: ending.attempts, lastError };
  await row.writes.write(({ state }) => (state === "releasing" ? change : undefined)).catch(terms.onFault);
}

async function writeReleased({ terms }: EnderParts, row: Row, reason: LeaseEndReason): Promise<LeaseRecord> {
  await markReleasing(row, reason);
  return row.writes.write(({ state }) => (isTerminal(state) ? undefined : { state: "released", endedAt: terms.now() }));
}

async function lose(parts: EnderParts, row: Row): Promise<void> {
  const endedAt = parts.terms.now();
  const lease = await row.writes.write(({ state }) =>
    state === "active" ? { state: "lost", endReason: "lost", endedAt } : undefined,
  );
  finish(parts, row, "lost");
  void row.tell({ kind: "lost", lease, isolated: isIsolated(row) });
}

function finish({ rows }: EnderParts, row: Row, reason: LeaseEndReason): void {
  rows.remove(row);
  row.ended.resolve({ reason, end: row.workerEnd });
}

export function isIsolated(row: Row): boolean {
  return row.provider?.capabilities.isolated ?? false;
}
