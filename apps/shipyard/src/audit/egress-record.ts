import type { SessionEntry } from "@berth/audit-chain";
import type { LeaseEvent } from "@berth/environment-leases";
import type { CountedDecision, DecisionTally, EgressDecision } from "@berth/process-confinement/egress";
import { createDecisionTally } from "@berth/process-confinement/egress";

/** What sandboxes ask of their proxies, as entries that a sandbox cannot make many of. */
export interface EgressRecord {
  /** The entry that this decision is worth; undefined for one that is only counted. */
  decided(worker: string, decision: EgressDecision): SessionEntry | undefined;
  /** Follows leases, whose entries name their workers; gives what was only counted when one has ended. */
  leaseEvent(event: LeaseEvent): readonly SessionEntry[];
  /** What was only counted, of all. */
  rest(): readonly SessionEntry[];
}

interface Watched {
  readonly lease: string | undefined;
  readonly owner: string | undefined;
  readonly tally: DecisionTally;
}

export function createEgressRecord(): EgressRecord {
  const workers = new Map<string, Watched>();
  const watch = (worker: string, lease?: string, owner?: string): Watched => {
    const known = workers.get(worker);
    const watched = { lease: lease ?? known?.lease, owner: owner ?? known?.owner };
    const next = { ...watched, tally: known?.tally ?? createDecisionTally() };
    workers.set(worker, next);
    return next;
  };
  const restOf = (worker: string, watched: Watched): readonly SessionEntry[] =>
    watched.tally.rest().map((counted) => egressEntry(worker, watched, counted));
  return {
    decided(worker, decision) {
      const watched = workers.get(worker) ?? watch(worker);
      const counted = watched.tally.add(decision);
      return counted === undefined ? undefined : egressEntry(worker, watched, counted);
    },
    leaseEvent(event) {
      if (!("lease" in event)) return [];
      const { id, owner, worker, state } = event.lease;
      if (state !== "released" && state !== "lost") {
        watch(worker, id, owner);
        return [];
      }
      const watched = workers.get(worker);
      workers.delete(worker);
      return watched === undefined ? [] : restOf(worker, watched);
    },
    rest: () => [...workers].flatMap(([worker, watched]) => restOf(worker, watched)),
  };
}

function egressEntry(worker: string, { lease, owner }: Watched, counted: CountedDecision): SessionEntry {
  const { outcome, protocol, host, port, reason, address, count } = counted;
  return { type: "lease.egress", lease, owner, worker, outcome, protocol, host, port, reason, address, count };
}
