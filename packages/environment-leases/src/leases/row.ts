import { createDeferred, type Deferred } from "../deferred.js";
import type { DisposableEnvironment, EnvironmentEnd } from "../environment.js";
import { LeaseError } from "../errors.js";
import { isTerminal, type LeaseEndReason, type LeaseRecord } from "../lease.js";
import type { LeaseEvent } from "../lease-event.js";
import type { Lease } from "../lease-handle.js";
import type { ManagedProvider } from "../provider.js";
import { createFifo, type Fifo } from "./fifo.js";
import type { Life } from "./life.js";
import { createRowWrites, type RowWrites } from "./row-writes.js";
import type { LeasesTerms } from "./terms.js";

/** How a lease is ended, from the first reason on until its worker's absence was confirmed. */
export interface Ending {
  /** The first one stays. */
  readonly reason: LeaseEndReason;
  /** The attempt that is under way. */
  underWay: Promise<void> | undefined;
  attempts: number;
  /** Monotonic: not before. */
  retryAt: number;
}

/** Something opened in the environment, closed with the lease. */
export interface Opened {
  close(): Promise<void>;
}

/** A row of the store that is not terminal, and what this process has of it. */
export interface Row {
  readonly id: string;
  /** As it was at the last write: `writes.record`. */
  readonly record: LeaseRecord;
  /** Undefined when none of that name is configured any more: then nothing of it can be confirmed. */
  readonly provider: ManagedProvider | undefined;
  /** Undefined for a row of an earlier process: then the wall clock in it decides. */
  life: Life | undefined;
  /** While the provider has not said whether there is a worker. */
  creating: Promise<unknown> | undefined;
  environment: DisposableEnvironment | undefined;
  /** How the worker ended, as it said. */
  workerEnd: EnvironmentEnd | undefined;
  ending: Ending | undefined;
  handle: Lease | undefined;
  /** Who is about to become its owner: counts before the write. */
  claimant: string | undefined;
  readonly queue: Fifo;
  readonly opened: Set<Opened>;
  /** Asks running commands to end. */
  readonly interruptor: AbortController;
  /** Ends everything that runs, and every wait. */
  readonly killer: AbortController;
  readonly ended: Deferred<{ readonly reason: LeaseEndReason; readonly end: EnvironmentEnd | undefined }>;
  readonly writes: RowWrites;
  /** Told in order, before an effect: rejects when the recorder refuses. */
  announce(event: LeaseEvent): Promise<void>;
  /** Told in order, after the fact. Never rejects. */
  tell(event: LeaseEvent): Promise<void>;
}

export function createRow(first: LeaseRecord, provider: ManagedProvider | undefined, terms: LeasesTerms): Row {
  const writes = createRowWrites(first, terms.store);
  let lastTold: Promise<void> = Promise.resolve();
  const announce = (event: LeaseEvent): Promise<void> => {
    const told = lastTold.then(() => terms.record?.(event));
    lastTold = told.catch(() => undefined);
    return told;
  };
  return {
    id: first.id,
    get record() {
      return writes.record;
    },
    writes,
    provider,
    life: undefined,
    creating: undefined,
    environment: undefined,
    workerEnd: undefined,
    ending: undefined,
    handle: undefined,
    claimant: undefined,
    queue: createFifo(terms.limits.maxQueued),
    opened: new Set(),
    interruptor: new AbortController(),
    killer: new AbortController(),
    ended: createDeferred(),
    announce,
    tell: (event) => announce(event).catch(terms.onFault),
  };
}

/** Whether its worker was given up or its time is over. */
export function faultOfUse(row: Row): LeaseError | undefined {
  const reason = row.ending?.reason ?? row.life?.due();
  if (reason !== undefined) return endedError(row.id, reason);
  return isTerminal(row.record.state) ? endedError(row.id, row.record.endReason ?? "released") : undefined;
}

/** `LEASE_EXPIRED` when its time was over, `LEASE_ENDED` for every other reason. */
export function endedError(id: string, reason: LeaseEndReason): LeaseError {
  if (reason === "expired" || reason === "hard-limit" || reason === "idle") {
    return new LeaseError("LEASE_EXPIRED", `lease ${id} has expired (${reason})`, { cure: "Acquire another lease." });
  }
  return new LeaseError("LEASE_ENDED", `lease ${id} has ended (${reason})`, { cure: "Acquire another lease." });
}
