import { LeaseError } from "../errors.js";
import type { Lease } from "../lease-handle.js";
import type { OwnerTerms } from "./acquire-terms.js";
import { isIsolated } from "./end.js";
import { createHandle } from "./handle.js";
import { createLife } from "./life.js";
import { deadlineMarginMs, giveUp, type Works } from "./maker.js";
import { faultOfUse, type Row } from "./row.js";

/** Gives a worker to its one owner: from here on the lifetime counts. A row whose activation fails is ended. */
export async function activateRow(works: Works, row: Row, plan: OwnerTerms): Promise<Lease> {
  const { terms, rows } = works;
  const { environment } = row;
  if (environment === undefined) throw new Error("activated without a worker");
  try {
    const now = terms.now();
    const ceilingMs = terms.limits.maxLifetimeMs;
    const life = createLife({ ttlMs: plan.ttlMs, ceilingMs, idleMs: plan.idleMs }, terms.scheduler.now);
    const lease = await row.writes.write(() => {
      const fault = faultOfUse(row);
      if (fault !== undefined) throw fault;
      return {
        state: "active",
        owner: plan.owner,
        expiresAt: now + plan.ttlMs,
        ceilingAt: now + ceilingMs,
        idleMs: plan.idleMs,
        lastUsedAt: now,
        labels: plan.labels,
      };
    });
    row.life = life;
    environment.setDeadline(life.remainingMs() + deadlineMarginMs);
    works.whenDue(life.dueInMs());
    const { enforced, restriction } = environment;
    await row.tell({ kind: "active", lease, enforced, restriction, isolated: isIsolated(row) });
    plan.signal?.throwIfAborted();
    const ended = faultOfUse(row);
    if (ended !== undefined) throw ended;
    row.handle = createHandle(works, row, environment);
    return row.handle;
  } catch (error) {
    if (rows.get(row.id) === row) await giveUp(works, row, plan.signal);
    throw error;
  }
}

/** @throws {LeaseError} `LEASE_ENDED` when somebody has it already. */
export function assertWarm(row: Row, isTaken: boolean): void {
  const fault = faultOfUse(row);
  if (fault !== undefined) throw new LeaseError("LEASE_ENDED", fault.message, { cure: fault.cure });
  if (isTaken) throw new LeaseError("LEASE_ENDED", "the warm lease was activated before");
}
