import type { DisposableEnvironment, EnvironmentEnd } from "../environment.js";
import { isLeaseError, LeaseError } from "../errors.js";
import type { LeaseEndReason, LeaseRecord } from "../lease.js";
import { abortable } from "../waits.js";
import type { Catalog, Leasable } from "./catalog.js";
import { type Ender, isIsolated } from "./end.js";
import { createLife } from "./life.js";
import type { Row } from "./row.js";
import type { Rows } from "./rows.js";
import type { LeasesTerms } from "./terms.js";

/** The guest's own clock ends it so much later than ours: the second enforcer, for when we are gone or hang. */
export const deadlineMarginMs = 2_000;

/** What a new row is for. */
export interface Reservation {
  readonly leasable: Leasable;
  /** Undefined for a warm one. */
  readonly owner: string | undefined;
  readonly ttlMs: number;
  readonly idleMs: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
}

/** What all steps of a set of leases share. */
export interface Works {
  readonly terms: LeasesTerms;
  readonly catalog: Catalog;
  readonly rows: Rows;
  readonly ender: Ender;
  /** Something is due in so many milliseconds. */
  readonly whenDue: (delayMs: number) => void;
}

/**
 * Writes the row, then makes its worker. When anything fails on the way, the row is ended and its worker's absence seen before
 * this rejects, except after an abort, which does not wait.
 */
export async function makeWorker(works: Works, plan: Reservation): Promise<Row> {
  const row = works.rows.add(newRecord(works.terms, plan));
  row.life = createLife({ ttlMs: plan.ttlMs, ceilingMs: plan.ttlMs }, works.terms.scheduler.now);
  try {
    await row.writes.insert();
    await row.announce({ kind: "reserved", lease: row.record, isolated: isIsolated(row) });
    const environment = await createWithin(works, row, plan);
    watch(works, row, environment);
    works.whenDue(row.life.dueInMs());
    return row;
  } catch (error) {
    await giveUp(works, row, plan.signal);
    throw error;
  }
}

/** Ends a row that did not become what it was made for. */
export async function giveUp({ ender, terms }: Works, row: Row, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return ender.endBehind(row, "discarded");
  await ender.end(row, "create-failed").catch(terms.onFault); // the first failure is what the caller is told
}

/** Notes the living worker of a row, and ends the row when the worker has ended. */
export function watch({ ender }: Works, row: Row, environment: DisposableEnvironment): void {
  row.environment = environment;
  void environment.ended.then((end) => {
    row.workerEnd = end;
    const reason = row.ending?.reason ?? reasonOf(end, row);
    ender.endBehind(row, reason);
    row.ended.resolve({ reason, end });
  });
}

function reasonOf({ reason }: EnvironmentEnd, row: Row): LeaseEndReason {
  if (reason === "memory" || reason === "disk" || reason === "output") return reason;
  if (reason === "deadline") return row.life?.due() ?? "deadline";
  return reason === "unknown" ? "lost" : "crash";
}

async function createWithin(works: Works, row: Row, plan: Reservation): Promise<DisposableEnvironment> {
  const { profile, provider } = plan.leasable;
  const { createMs } = works.terms.limits;
  const late = new AbortController();
  const timer = works.terms.scheduler.after(createMs, () => {
    late.abort(new LeaseError("ENVIRONMENT_NOT_CREATED", `no worker within ${createMs} ms (createMs)`));
  });
  const signals = [late.signal, row.killer.signal, ...(plan.signal === undefined ? [] : [plan.signal])];
  const signal = AbortSignal.any(signals);
  try {
    signal.throwIfAborted();
    const deadlineMs = plan.ttlMs + deadlineMarginMs;
    const creating = provider.create(row.record.worker, profile, { deadlineMs, signal });
    row.creating = creating;
    const settled = (): void => {
      row.creating = undefined;
    };
    creating.then(settled, settled);
    const environment = await abortable(creating, signal);
    if (profile.shell) await abortable(environment.installShell({ signal }), signal);
    return environment;
  } catch (error) {
    signal.throwIfAborted();
    throw isLeaseError(error) ? error : notCreated(provider.name, error);
  } finally {
    timer.cancel();
  }
}

function notCreated(provider: string, cause: unknown): LeaseError {
  const text = cause instanceof Error ? cause.message : String(cause);
  return new LeaseError("ENVIRONMENT_NOT_CREATED", `the provider ${provider} made no worker: ${text}`, { cause });
}

function newRecord(terms: LeasesTerms, { leasable, owner, ttlMs, idleMs, labels }: Reservation): LeaseRecord {
  const createdAt = terms.now();
  return {
    id: hex(terms.randomBytes(16)),
    owner,
    profile: leasable.profile.name,
    provider: leasable.provider.name,
    worker: `mcp-${hex(terms.randomBytes(12))}`,
    state: "reserved",
    generation: 1,
    createdAt,
    expiresAt: createdAt + ttlMs,
    ceilingAt: createdAt + ttlMs,
    idleMs,
    lastUsedAt: createdAt,
    host: terms.host,
    cleanupAttempts: 0,
    endReason: undefined,
    endedAt: undefined,
    lastError: undefined,
    labels,
  };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
