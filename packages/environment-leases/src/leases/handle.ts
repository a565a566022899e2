import type { DisposableEnvironment } from "../environment.js";
import { LeaseError } from "../errors.js";
import { type LeaseRecord, renewedExpiry } from "../lease.js";
import type { Lease } from "../lease-handle.js";
import { readRenew } from "./acquire-terms.js";
import { installPackages, openProcess, openTerminal, requestResource, runCommand } from "./asked.js";
import { isIsolated } from "./end.js";
import { deadlineMarginMs, type Works } from "./maker.js";
import { noteUse } from "./operations.js";
import { faultOfUse, type Row } from "./row.js";

/** The lease as its owner holds it. */
export function createHandle(works: Works, row: Row, environment: DisposableEnvironment): Lease {
  const { ender } = works;
  const release: Lease["release"] = async (reason = "released") => {
    if (works.rows.get(row.id) === row) await ender.end(row, reason);
  };
  return {
    id: row.id,
    owner: row.record.owner ?? "",
    profile: row.record.profile,
    get record() {
      return row.record;
    },
    enforced: environment.enforced,
    isolated: isIsolated(row),
    restriction: environment.restriction,
    workspace: environment.workspace,
    interpreter: environment.interpreter,
    ended: row.ended.promise,
    touch: () => noteUse(works, row),
    run: (argv, options) => runCommand(works, row, argv, options),
    open: (argv, options) => openProcess(works, row, "active", argv, options),
    openTerminal: (options) => openTerminal(works, row, options),
    installPackages: (wheels, options) => installPackages(works, row, wheels, options),
    requestResource: (request) => requestResource(works, row, request),
    renew: (options) => renew(works, row, options),
    usage: () => environment.usage(),
    release,
    [Symbol.asyncDispose]: () => release(),
  };
}

async function renew(works: Works, row: Row, options: Parameters<Lease["renew"]>[0]): Promise<LeaseRecord> {
  const { terms } = works;
  const { ttlMs, generation } = readRenew(options, terms.limits);
  let takeBack: (() => void) | undefined;
  try {
    await row.writes.write((record) => {
      const fault = faultOfUse(row);
      if (fault !== undefined) throw fault;
      if (generation !== undefined && generation !== record.generation) throw stale(record, generation);
      // Before the write, so that a lease whose renewal is on its way to the disk does not expire meanwhile.
      takeBack = row.life?.renew(ttlMs);
      return { expiresAt: renewedExpiry(record, terms.now(), ttlMs), lastUsedAt: terms.now() };
    });
  } catch (error) {
    takeBack?.();
    throw error;
  }
  const ended = faultOfUse(row);
  if (ended !== undefined) throw ended;
  row.environment?.setDeadline((row.life?.remainingMs() ?? 0) + deadlineMarginMs);
  works.whenDue(row.life?.dueInMs() ?? 0);
  const lease = row.record;
  await row.tell({ kind: "renewed", lease, isolated: isIsolated(row) });
  return lease;
}

function stale(record: LeaseRecord, generation: number): LeaseError {
  const message = `lease ${record.id} is at generation ${record.generation}, renewed was ${generation}`;
  return new LeaseError("GENERATION_STALE", message, { cure: "Read the lease again and decide anew." });
}
