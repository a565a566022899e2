import { createHash } from "node:crypto";
import type { DisposableEnvironment } from "../environment.js";
import { isLeaseError, LeaseError } from "../errors.js";
import type { LeaseOperation } from "../lease-event.js";
import { abortable } from "../waits.js";
import type { Works } from "./maker.js";
import { endedError, faultOfUse, type Opened, type Row } from "./row.js";

/** One thing that is asked of an environment. */
export interface Operation<T> {
  readonly kind: LeaseOperation;
  /** What is digested for the record. */
  readonly argv: readonly string[];
  readonly signal: AbortSignal | undefined;
  /** Must be as when it was asked for: a warm lease that was given away is nobody else's any more. */
  readonly state: "reserved" | "active";
  run(environment: DisposableEnvironment, signal: AbortSignal): Promise<T>;
  /** What the record says of a result. */
  outcome(result: T): Outcome;
  /** Undoes a result that nobody gets. */
  discard?(result: T): Promise<void>;
}

export interface Outcome {
  /** Undefined: it is not over yet, and told later. */
  readonly outcome: string | undefined;
  readonly exitCode?: number | undefined;
  readonly stdoutBytes?: number | undefined;
  readonly stderrBytes?: number | undefined;
}

/** Told when what was opened is over. */
export type TellOutcome = (outcome: Outcome & { readonly outcome: string }) => Promise<void>;

/**
 * Runs an operation in its turn. Owner, state and expiry are looked at before the wait, after it, and when the result is
 * there: a result of a lease that ended meanwhile is discarded. The turn is kept until the work has settled, also when
 * its caller was told before, so that at most one runs.
 */
export async function operate<T>(
  works: Works,
  row: Row,
  operation: Operation<T>,
): Promise<{ readonly result: T; readonly tellOutcome: TellOutcome }> {
  assertUsable(row, operation);
  const leave = await row.queue.enter(operation.signal);
  const release = row.life?.hold();
  noteUse(works, row);
  let work: Promise<T> | undefined;
  let isDelivered = false;
  const settled = (): void => {
    release?.();
    noteUse(works, row);
    leave();
  };
  try {
    assertUsable(row, operation);
    const tellOutcome = await announce(works, row, operation);
    const signals = [row.killer.signal, ...(operation.signal === undefined ? [] : [operation.signal])];
    const signal = AbortSignal.any(signals);
    const completion = await completed(row, operation, tellOutcome, async (environment) => {
      assertUsable(row, operation);
      signal.throwIfAborted();
      work = operation.run(environment, signal);
      return abortable(work, signal);
    });
    isDelivered = true;
    return completion;
  } finally {
    if (work === undefined) settled();
    else void settleLater(work, isDelivered ? undefined : operation.discard, settled);
  }
}

/** Also when the caller went before: what then comes up is closed again. */
async function settleLater<T>(work: Promise<T>, discard: Operation<T>["discard"], settled: () => void): Promise<void> {
  try {
    await discard?.(await work);
    await work;
  } catch {
    // its caller was told
  } finally {
    settled();
  }
}

async function completed<T>(
  row: Row,
  operation: Operation<T>,
  tellOutcome: TellOutcome,
  run: (environment: DisposableEnvironment) => Promise<T>,
): Promise<{ readonly result: T; readonly tellOutcome: TellOutcome }> {
  const { environment } = row;
  if (environment === undefined) throw new Error("a lease without a worker");
  let result: T;
  try {
    result = await run(environment);
  } catch (error) {
    const told = refusalOf(row, operation, error);
    await tellOutcome({
      outcome: isLeaseError(told) ? told.code : operation.signal?.aborted === true ? "aborted" : "failed",
    });
    throw told;
  }
  const fault = faultOfUse(row);
  if (fault !== undefined) {
    await tellOutcome({ ...operation.outcome(result), outcome: "discarded" });
    throw fault;
  }
  const { outcome, ...rest } = operation.outcome(result);
  if (outcome !== undefined) await tellOutcome({ ...rest, outcome });
  return { result, tellOutcome };
}

/** The caller's own abort first; then that the lease has ended, which explains whatever else was thrown. */
function refusalOf<T>(row: Row, { signal }: Operation<T>, error: unknown): unknown {
  if (signal?.aborted === true && error === signal.reason) return error;
  const reason = row.ending?.reason;
  if (reason === undefined) return error;
  const ended = endedError(row.id, reason);
  return new LeaseError(ended.code, ended.message, { cause: error, cure: ended.cure });
}

async function announce<T>({ terms }: Works, row: Row, { kind, argv }: Operation<T>): Promise<TellOutcome> {
  const command = Buffer.from(terms.randomBytes(8)).toString("hex");
  const argvDigest = createHash("sha256").update(JSON.stringify(argv)).digest("hex");
  const startedAt = terms.scheduler.now();
  const what = { command, operation: kind };
  await row.announce({ kind: "command.intent", lease: row.record, ...what, argvDigest, argvCount: argv.length });
  return ({ outcome, exitCode, stdoutBytes = 0, stderrBytes = 0 }) => {
    const durationMs = Math.round(terms.scheduler.now() - startedAt);
    const told = { outcome, exitCode, durationMs, stdoutBytes, stderrBytes };
    return row.tell({ kind: "command.outcome", lease: row.record, ...what, ...told });
  };
}

function assertUsable<T>(row: Row, { state }: Operation<T>): void {
  const fault = faultOfUse(row);
  if (fault !== undefined) throw fault;
  if (row.record.state !== state) throw new LeaseError("LEASE_ENDED", "the warm lease was given to its owner");
}

/** In memory for the guard, and in the row for a later process. */
export function noteUse({ terms }: Works, row: Row): void {
  if (faultOfUse(row) !== undefined) return;
  row.life?.use();
  terms.store.touch(row.id, terms.now());
}

/** @throws {LeaseError} `QUOTA_REACHED` */
export function assertMayOpen({ terms }: Works, row: Row): void {
  const { maxOpened } = terms.limits;
  if (row.opened.size < maxOpened) return;
  throw new LeaseError("QUOTA_REACHED", `a lease may have ${maxOpened} processes and terminals open (maxOpened)`, {
    cure: "Close one first.",
  });
}

/** Closed with the lease, until it is over by itself. */
export function keepOpened(row: Row, opened: Opened, over: Promise<unknown>): void {
  row.opened.add(opened);
  if (row.killer.signal.aborted) void opened.close().catch(() => undefined); // it goes with its environment
  void over.then(() => row.opened.delete(opened));
}
