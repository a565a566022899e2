import { LeaseError } from "./errors.js";
import { isTerminal, type LeaseRecord } from "./lease.js";
import { readAcquire, readWarm } from "./leases/acquire-terms.js";
import { activateRow } from "./leases/activate.js";
import { createCatalog } from "./leases/catalog.js";
import { createEnder } from "./leases/end.js";
import { makeWorker, type Works } from "./leases/maker.js";
import { createOrphans } from "./leases/orphans.js";
import { recoverAll } from "./leases/recover.js";
import { faultOfUse } from "./leases/row.js";
import { createRows } from "./leases/rows.js";
import { nextDueMs, sweepAll, sweepBehind } from "./leases/sweep.js";
import { createSweeper } from "./leases/sweeper.js";
import { readLeasesOptions } from "./leases/terms.js";
import { settlesWithin } from "./leases/waits.js";
import { createWarmLease } from "./leases/warm.js";
import type { Leases, LeasesOptions } from "./leases-contract.js";

/**
 * Durable leases. Call `recover` once before the first lease. The store and the providers stay the caller's, to be closed
 * after these.
 * @throws {LeaseError} `OPTION_INVALID`, `PROFILE_INVALID`
 */
export function createLeases(options: LeasesOptions): Leases {
  const terms = readLeasesOptions(options);
  const catalog = createCatalog(options);
  const rows = createRows(terms, catalog.providers);
  const tick = (): number => {
    void sweepBehind(works, orphans).catch(terms.onFault);
    return nextDueMs(works);
  };
  const sweeper = createSweeper(tick, terms.limits.sweepMs, terms.scheduler);
  const ender = createEnder(rows, terms, sweeper.whenDue);
  const works: Works = { terms, catalog, rows, ender, whenDue: sweeper.whenDue };
  const orphans = createOrphans(works);
  let closing: Promise<void> | undefined;
  const assertOpen = (): void => {
    if (closing !== undefined) throw new LeaseError("LEASES_CLOSED", "these leases are closed");
  };
  const close = (): Promise<void> => {
    closing ??= endAll(works, sweeper.stop);
    return closing;
  };
  const getRecord = async (id: string, owner: string | undefined): Promise<LeaseRecord> => {
    const found = await terms.store.get(id);
    // Foreign and unknown go the same way from here on.
    if (found === undefined || (owner !== undefined && found.owner !== owner)) throw notFound();
    return found;
  };
  return {
    async acquire(given) {
      const plan = readAcquire(given, terms.limits);
      assertOpen();
      const leasable = catalog.find(plan.profile);
      plan.signal?.throwIfAborted();
      await rows.load();
      assertOpen();
      const row = await makeWorker(works, { ...plan, leasable });
      return activateRow(works, row, plan);
    },
    async warm(given) {
      const { profile, maxAgeMs, signal } = readWarm(given, terms.limits);
      assertOpen();
      const leasable = catalog.find(profile);
      signal?.throwIfAborted();
      await rows.load();
      assertOpen();
      const plan = { leasable, owner: undefined, ttlMs: maxAgeMs, idleMs: undefined, labels: {}, signal };
      return createWarmLease(works, await makeWorker(works, plan), assertOpen);
    },
    get: getRecord,
    find(id, owner) {
      const row = rows.get(id);
      const isOwn = row?.record.owner === owner && row !== undefined && faultOfUse(row) === undefined;
      return isOwn ? row.handle : undefined;
    },
    list: (filter) => terms.store.list(filter),
    async release(id, { owner, reason = owner === undefined ? "operator" : "released" } = {}) {
      await rows.load();
      const record = await getRecord(id, owner);
      if (isTerminal(record.state)) return record;
      await ender.end(rows.of(record), reason);
      return getRecord(id, owner);
    },
    async sweep() {
      assertOpen();
      return sweepAll(works, orphans);
    },
    async recover() {
      assertOpen();
      return recoverAll(works, orphans);
    },
    profiles: catalog.profiles,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Rows that are not ended in time stay as they are for the next recovery. */
async function endAll({ terms, rows, ender }: Works, stop: () => void): Promise<void> {
  const { closeMs } = terms.limits;
  stop();
  ender.hurry(closeMs / 2);
  const own = rows.all().filter((row) => row.life !== undefined);
  const ends = own.map((row) => ender.end(row, "shutdown").catch(terms.onFault));
  if (await settlesWithin(Promise.all(ends), closeMs, terms.scheduler)) return;
  terms.onFault(new LeaseError("CLEANUP_UNCONFIRMED", `not every lease was released within ${closeMs} ms (closeMs)`));
}

function notFound(): LeaseError {
  return new LeaseError("LEASE_NOT_FOUND", "there is no such lease");
}
