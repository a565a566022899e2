import { dueReason, type LeaseEndReason, type LeaseRecord } from "../lease.js";
import type { RecoveryResult } from "../leases-contract.js";
import type { ManagedProvider } from "../provider.js";
import { confirmAbsence } from "./absence.js";
import { createHandle } from "./handle.js";
import { createLife } from "./life.js";
import { deadlineMarginMs, type Works, watch } from "./maker.js";
import type { Orphans } from "./orphans.js";
import type { Row } from "./row.js";

type Recovered = "attached" | "lost" | "released" | "unconfirmed" | "held";

/**
 * What becomes of the rows of earlier processes, each by itself: a crash anywhere leaves rows that the next recovery treats
 * the same.
 */
export async function recoverAll(works: Works, orphans: Orphans): Promise<RecoveryResult> {
  await works.rows.load();
  const rows = works.rows.all();
  const outcomes = await Promise.all(rows.map((row) => recoverRow(works, row)));
  const found = await orphans.find();
  const count = (outcome: Recovered): number => outcomes.filter((seen) => seen === outcome).length;
  const [lost, attached, released] = [count("lost"), count("attached"), count("released")];
  return {
    ended: released + count("unconfirmed"),
    released,
    unconfirmed: count("unconfirmed") + orphans.left,
    attached,
    lost,
    orphans: found,
  };
}

async function recoverRow(works: Works, row: Row): Promise<Recovered> {
  const { record, provider } = row;
  if (row.life !== undefined) return "held";
  // What a sweep has begun to end by now is waited for: after a recovery nothing of an earlier process is left.
  const isEnding = row.ending !== undefined || record.state !== "active";
  if (isEnding || provider === undefined) return endRow(works, row, "recovery");
  const presence = await presenceOf(works, provider, record);
  if (presence === "no") return loseRow(works, row);
  const due = dueReason(record, works.terms.now());
  if (due !== undefined) return endRow(works, row, due);
  if (presence === "yes" && works.terms.onRecovery === "attach" && (await attachRow(works, row, provider))) {
    return "attached";
  }
  return endRow(works, row, "recovery");
}

async function presenceOf(
  { terms }: Works,
  provider: ManagedProvider,
  { worker }: LeaseRecord,
): Promise<"yes" | "no" | "unknown"> {
  try {
    return await provider.exists(worker);
  } catch (error) {
    terms.onFault(error);
    return "unknown";
  }
}

/** Its scratch may be left although it is gone: that is removed before the row is terminal. */
async function loseRow(works: Works, row: Row): Promise<Recovered> {
  const fault = await confirmAbsence(row, works.terms);
  if (fault !== undefined || row.ending !== undefined) return endRow(works, row, "lost");
  try {
    await works.ender.lose(row);
    return "lost";
  } catch (error) {
    works.terms.onFault(error);
    return "unconfirmed";
  }
}

async function endRow(works: Works, row: Row, reason: LeaseEndReason): Promise<Recovered> {
  try {
    await works.ender.end(row, reason);
    return "released";
  } catch (error) {
    works.terms.onFault(error);
    return "unconfirmed";
  }
}

async function attachRow(works: Works, row: Row, provider: ManagedProvider): Promise<boolean> {
  const { terms, catalog } = works;
  try {
    const { profile } = catalog.find(row.record.profile);
    const life = lifeOf(works, row.record);
    const deadlineMs = life.remainingMs() + deadlineMarginMs;
    const environment = await provider.attach?.(row.record.worker, profile, { deadlineMs });
    if (environment === undefined || row.ending !== undefined) return false;
    if (profile.shell) await environment.installShell();
    row.life = life;
    watch(works, row, environment);
    environment.setDeadline(deadlineMs);
    row.handle = createHandle(works, row, environment);
    works.whenDue(life.dueInMs());
    return true;
  } catch (error) {
    terms.onFault(error);
    return false;
  }
}

/** What is left of a life by the wall clock; a clock that was set back since its last use gives it no more than it had then. */
function lifeOf({ terms }: Works, record: LeaseRecord): ReturnType<typeof createLife> {
  const now = Math.max(terms.now(), record.lastUsedAt, record.createdAt);
  const life = {
    ttlMs: Math.max(0, record.expiresAt - now),
    ceilingMs: Math.max(0, record.ceilingAt - now),
    idleMs: record.idleMs,
  };
  return createLife(life, terms.scheduler.now);
}
