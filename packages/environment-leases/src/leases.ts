import { LeaseError } from "./errors.js";
import { isTerminal, type LeaseEndReason, type LeaseRecord } from "./lease.js";
import type { AcquireOptions, Lease, WarmLease, WarmOptions } from "./lease-handle.js";
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
import { createWarmLease } from "./leases/warm.js";
import type { Leases, LeasesOptions } from "./leases-contract.js";
import { settlesWithin } from "./waits.js";

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
  return {
    acquire: (given) => acquire(works, given, assertOpen),
    warm: (given) => warmUp(works, given, assertOpen),
    get: (id, owner) => getRecord(works, id, owner),
    find(id, owner) {
      const row = rows.get(id);
      const isOwn = row !== undefined && row.record.owner === owner && faultOfUse(row) === undefined;
      return isOwn ? row.handle : undefined;
    },
    list: (filter) => terms.store.list(filter),
    release: (id, how = {}) => release(works, id, how),
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

async function acquire(works: Works, given: AcquireOptions, assertOpen: () => void): Promise<Lease> {
  const plan = readAcquire(given, works.terms.limits);
  assertOpen();
  const leasable = works.catalog.find(plan.profile);
  plan.signal?.throwIfAborted();
  await works.rows.load();
  assertOpen();
  const row = await makeWorker(works, { ...plan, leasable });
  return activateRow(works, row, plan);
}

async function warmUp(works: Works, given: WarmOptions, assertOpen: () => void): Promise<WarmLease> {
  const { profile, maxAgeMs, signal } = readWarm(given, works.terms.limits);
  assertOpen();
  const leasable = works.catalog.find(profile);
  signal?.throwIfAborted();
  await works.rows.load();
  assertOpen();
  const plan = { leasable, owner: undefined, ttlMs: maxAgeMs, idleMs: undefined, labels: {}, signal };
  return createWarmLease(works, await makeWorker(works, plan), assertOpen);
}

async function getRecord({ terms }: Works, id: string, owner: string | undefined): Promise<LeaseRecord> {
  const found = await terms.store.get(id);
  const isFound = found !== undefined && (owner === undefined || found.owner === owner);
  // Foreign and unknown go the same way.
  if (!isFound) throw new LeaseError("LEASE_NOT_FOUND", "there is no such lease");
  return found;
}

interface ReleaseOptions {
  readonly owner?: string | undefined;
  readonly reason?: LeaseEndReason | undefined;
}

async function release(works: Works, id: string, { owner, reason }: ReleaseOptions): Promise<LeaseRecord> {
  await works.rows.load();
  const record = await getRecord(works, id, owner);
  if (isTerminal(record.state)) return record;
  await works.ender.end(works.rows.of(record), reason ?? (owner === undefined ? "operator" : "released"));
  return getRecord(works, id, owner);
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
