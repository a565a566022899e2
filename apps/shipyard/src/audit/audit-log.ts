import { openSessionLog, type Receipt, type SessionEntry, type SessionLogOptions } from "@berth/audit-chain";
import type { SessionEvent } from "@berth/code-sessions";
import type { LeaseEvent } from "@berth/environment-leases";
import type { EgressDecision } from "@berth/process-confinement/egress";
import { leaseEntry, sessionEntry } from "./audit-entries.js";
import { createEgressRecord } from "./egress-record.js";

/** The log of one process, bracketed by its opening and its close. */
export interface AuditLog {
  readonly logId: string;
  /** For `createLeases`: a rejection refuses the step. @throws {ChainError} `AUDIT_UNAVAILABLE`. */
  recordLease(event: LeaseEvent): Promise<void>;
  /** For `createSessions`: a rejection refuses the call. @throws {ChainError} `AUDIT_UNAVAILABLE`. */
  recordSession(event: SessionEvent): Promise<void>;
  /** For the provider, before the connection is made: one that cannot be recorded is not. @throws {ChainError} `AUDIT_UNAVAILABLE`. */
  recordEgress(worker: string, decision: EgressDecision): void;
  /** Writes `session.close`, then ends the log. */
  close(reason: string): Promise<void>;
}

/** Begins the log of this process, in a folder of its own. */
export async function openAuditLog(options: SessionLogOptions): Promise<AuditLog> {
  const log = await openSessionLog(options);
  const append = (entry: SessionEntry): Promise<Receipt> => log.append(entry);
  /** For what is told afterwards: that it could not be kept was told when the log turned. */
  const leave = (entry: SessionEntry): Promise<unknown> => append(entry).catch(() => undefined);
  const intents = createIntents();
  const egress = createEgressRecord();
  const end = async (reason: string): Promise<void> => {
    for (const entry of egress.rest()) await leave(entry);
    await log.close(reason);
  };
  let closing: Promise<void> | undefined;
  return {
    logId: log.logId,
    recordLease: async (event) => {
      for (const entry of egress.leaseEvent(event)) void leave(entry);
      if (event.kind === "command.intent") {
        intents.keep(event.command, await append(leaseEntry(event)));
      } else {
        await append(leaseEntry(event, event.kind === "command.outcome" ? intents.take(event.command) : undefined));
      }
    },
    recordSession: async (event) => {
      if (event.kind === "call.intent") {
        intents.keep(event.call, await append(sessionEntry(event)));
      } else {
        await append(sessionEntry(event, event.kind === "call.outcome" ? intents.take(event.call) : undefined));
      }
    },
    recordEgress: (worker, decision) => {
      const entry = egress.decided(worker, decision);
      if (entry !== undefined) void leave(entry);
      log.throwIfRefusing();
    },
    close: (reason) => (closing ??= end(reason)),
  };
}

interface Intents {
  keep(id: string, receipt: Receipt): void;
  take(id: string): number | undefined;
}

/** Intents without an outcome that are kept in mind; the packages bound what runs at once far below. */
const maxIntents = 65_536;

/** An outcome names its intent by sequence number, from the receipt, so that the log can be checked without our own ids. */
function createIntents(): Intents {
  const sequences = new Map<string, number>();
  return {
    keep: (id, { sequence }) => {
      sequences.set(id, sequence);
      if (sequences.size <= maxIntents) return;
      const [oldest] = sequences.keys();
      if (oldest !== undefined) sequences.delete(oldest);
    },
    take: (id) => {
      const sequence = sequences.get(id);
      sequences.delete(id);
      return sequence;
    },
  };
}
