import { LeaseError } from "../errors.js";
import { isTerminal, type LeaseEndReason, type LeaseRecord } from "../lease.js";
import type { LeaseChange } from "../store.js";
import { confirmAbsence } from "./absence.js";
import { endedError, type Row } from "./row.js";
import type { Rows } from "./rows.js";
import type { LeasesTerms } from "./terms.js";
import { settlesWithin } from "./waits.js";

const firstRetryMs = 1_000;
const lastRetryMs = 300_000;

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
  const { scheduler, onFault } = terms;
  let graceMs = terms.limits.graceMs;

  const finish = (row: Row, reason: LeaseEndReason): void => {
    rows.remove(row);
    row.ended.resolve({ reason, end: row.workerEnd });
  };
  const markReleasing = async (row: Row, endReason: LeaseEndReason): Promise<void> => {
    let isNew = false;
    const lease = await row.write(({ state }) => {
      isNew = state === "reserved" || state === "active";
      return isNew ? { state: "releasing", endReason } : undefined;
    });
    if (isNew) void row.tell({ kind: "releasing", lease, isolated: isIsolated(row) });
  };
  const interrupt = async (row: Row, reason: LeaseEndReason): Promise<void> => {
    const gone = endedError(row.id, reason);
    row.interruptor.abort(gone);
    const isWorking = row.queue.isBusy && row.workerEnd === undefined && !row.killer.signal.aborted;
    if (isWorking && graceMs > 0) {
      await settlesWithin(Promise.race([row.queue.idle(), row.environment?.ended]), graceMs, scheduler);
    }
    row.killer.abort(gone);
    for (const opened of row.opened) void opened.close().catch(() => undefined); // it goes with its environment
    row.opened.clear();
  };
  const noteFailure = async (row: Row, fault: string): Promise<void> => {
    const ending = row.ending;
    if (ending === undefined) return;
    ending.attempts += 1;
    const delay = Math.min(lastRetryMs, firstRetryMs * 2 ** Math.min(ending.attempts - 1, 20));
    ending.retryAt = scheduler.now() + delay;
    whenDue(delay);
    const change: LeaseChange = { cleanupAttempts: ending.attempts, lastError: fault };
    await row.write(({ state }) => (state === "releasing" ? change : undefined)).catch(onFault);
  };
  const writeReleased = async (row: Row, reason: LeaseEndReason): Promise<LeaseRecord> => {
    await markReleasing(row, reason);
    return row.write(({ state }) => (isTerminal(state) ? undefined : { state: "released", endedAt: terms.now() }));
  };
  const attempt = async (row: Row, reason: LeaseEndReason): Promise<void> => {
    await markReleasing(row, reason).catch(onFault); // written below: work is stopped also when the store fails
    await interrupt(row, reason);
    const fault = await confirmAbsence(row, terms);
    if (fault !== undefined) {
      await noteFailure(row, fault);
      throw new LeaseError("CLEANUP_UNCONFIRMED", `the worker of lease ${row.id} may still exist: ${fault}`, {
        cure: "Nothing: it is tried again in the background, and stays in the list as releasing until its absence is seen.",
      });
    }
    try {
      const lease = await writeReleased(row, reason);
      finish(row, reason);
      void row.tell({ kind: "released", lease, isolated: isIsolated(row) });
    } catch (error) {
      // A row that was never written, because its first write failed, has no end to write.
      if (row.isAbsent) return finish(row, reason);
      await noteFailure(row, "its end was not written down");
      throw error;
    }
  };
  const end = (row: Row, reason: LeaseEndReason): Promise<void> => {
    const first = row.record.state === "releasing" ? (row.record.endReason ?? reason) : reason;
    const ending = row.ending ?? {
      reason: first,
      attempts: row.record.cleanupAttempts,
      retryAt: 0,
      underWay: undefined,
    };
    row.ending = ending;
    row.queue.close(endedError(row.id, ending.reason));
    ending.underWay ??= attempt(row, ending.reason).finally(() => {
      ending.underWay = undefined;
    });
    return ending.underWay;
  };
  return {
    end,
    endBehind: (row, reason) => void end(row, reason).catch(onFault),
    async lose(row) {
      const lease = await row.write(({ state }) =>
        state === "active" ? { state: "lost", endReason: "lost", endedAt: terms.now() } : undefined,
      );
      finish(row, "lost");
      void row.tell({ kind: "lost", lease, isolated: isIsolated(row) });
    },
    hurry(grace) {
      graceMs = Math.min(graceMs, grace);
    },
  };
}

export function isIsolated(row: Row): boolean {
  return row.provider?.capabilities.isolated ?? false;
}
