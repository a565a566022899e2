import { dueReason, type LeaseEndReason } from "../lease.js";
import type { SweepResult } from "../leases-contract.js";
import type { Works } from "./maker.js";
import type { Orphans } from "./orphans.js";
import type { Row } from "./row.js";

/**
 * Reads the store, so that a timer that was lost leaks no worker, and begins to end what is due. A row that this process
 * holds is due by its guard, another one by the wall clock. Rows whose backoff runs are left alone unless `isAsked`.
 */
async function beginDue(works: Works, { isAsked }: { readonly isAsked: boolean }): Promise<readonly Row[]> {
  const { terms, rows } = works;
  await rows.load();
  const listed = await terms.store.listDue(terms.now());
  const due = new Set([...listed.map(rows.of), ...rows.all()]);
  return [...due].filter((row) => {
    const reason = reasonOf(works, row, isAsked);
    if (reason !== undefined) works.ender.endBehind(row, reason);
    return reason !== undefined;
  });
}

function reasonOf({ terms }: Works, row: Row, isAsked: boolean): LeaseEndReason | undefined {
  const { ending, record, life } = row;
  if (ending !== undefined || record.state === "releasing") {
    const mayRetry = isAsked || (ending?.retryAt ?? 0) <= terms.scheduler.now();
    return mayRetry && ending?.underWay === undefined ? (ending?.reason ?? "operator") : undefined;
  }
  return life === undefined ? dueReason(record, terms.now()) : life.due();
}

/** A sweep of the timer: waits for no ending, so that one that takes long holds up no other. */
export async function sweepBehind(works: Works, orphans: Orphans): Promise<void> {
  await beginDue(works, { isAsked: false });
  if (orphans.left > 0) await orphans.retry();
  await prune(works);
}

async function prune({ terms }: Works): Promise<void> {
  await terms.store.prune(terms.now() - terms.limits.retentionMs);
}

/** Until something is due or to be tried again. */
export function nextDueMs({ terms, rows }: Works): number {
  const now = terms.scheduler.now();
  const dues = rows.all().map(({ ending, life }) => {
    if (ending === undefined) return life?.dueInMs() ?? Number.POSITIVE_INFINITY;
    return ending.underWay === undefined ? ending.retryAt - now : Number.POSITIVE_INFINITY;
  });
  return Math.max(0, Math.min(Number.POSITIVE_INFINITY, ...dues));
}

/** One whole sweep: waits for what it began, and for what was under way. */
export async function sweepAll(works: Works, orphans: Orphans): Promise<SweepResult> {
  const { rows } = works;
  const began = await beginDue(works, { isAsked: true });
  const ended = began.filter(({ record }) => record.state !== "releasing").length;
  const ending = rows.all().filter((row) => row.ending !== undefined);
  const outcomes = await Promise.allSettled(ending.map((row) => row.ending?.underWay));
  const unconfirmed = ending.filter((row) => rows.get(row.id) === row).length + (await orphans.retry());
  await prune(works);
  return { ended, released: outcomes.length - ending.filter((row) => rows.get(row.id) === row).length, unconfirmed };
}
