import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type Durability, openChain, type Receipt, recordable } from "@berth/audit-chain";
import type { SessionEvent } from "@berth/code-sessions";
import type { LeaseEvent } from "@berth/environment-leases";
import type { EgressDecision } from "@berth/process-confinement/egress";
import { type AuditEntry, leaseEntry, sessionEntry } from "./audit-entries.js";
import { createEgressRecord } from "./egress-record.js";
import { openLastingChain } from "./lasting-chain.js";
import { NotRecorded } from "./not-recorded.js";

/** The log of one process, bracketed by its opening and its close. */
export interface AuditLog {
  readonly logId: string;
  /** For `createLeases`: a rejection refuses the step. @throws {NotRecorded} */
  recordLease(event: LeaseEvent): Promise<void>;
  /** For `createSessions`: a rejection refuses the call. @throws {NotRecorded} */
  recordSession(event: SessionEvent): Promise<void>;
  /** For the provider, before the connection is made: one that cannot be recorded is not. @throws {NotRecorded} */
  recordEgress(worker: string, decision: EgressDecision): void;
  /** Writes `session.close`, then ends the log. */
  close(reason: string): Promise<void>;
}

export interface AuditLogOptions {
  /** The state folder's `audit`. */
  readonly folder: string;
  readonly durability: Durability;
  /** What `session.open` says beside its session. */
  readonly opening: Omit<AuditEntry, "type">;
  now(): number;
  /** Told when entries are refused, with the reason, and when they are taken again. */
  readonly onTurn?: ((refusal: unknown) => void) | undefined;
}

/** Begins the log of this process, in a folder of its own. */
export async function openAuditLog(options: AuditLogOptions): Promise<AuditLog> {
  const { folder, durability, opening, now, onTurn = () => undefined } = options;
  const session = randomUUID();
  const logId = `${new Date(now()).toISOString().replace(/[-:]|\.\d+/gu, "")}-${session.slice(0, 8)}`;
  const directory = join(folder, logId);
  const monotonic = (): number => performance.now();
  const chain = await openLastingChain({
    open: () => openChain({ directory, durability, now, monotonic }),
    now: monotonic,
  });
  let isRefusing = false;
  const turn = (refusal?: unknown): void => {
    if (isRefusing !== (refusal !== undefined)) onTurn(refusal);
    isRefusing = refusal !== undefined;
  };
  const append = async (entry: AuditEntry): Promise<Receipt> => {
    try {
      const receipt = await chain.append({ ...recordable(entry), type: entry.type, session });
      turn();
      return receipt;
    } catch (fault) {
      turn(fault);
      throw new NotRecorded(fault);
    }
  };
  /** For what is told afterwards: that it could not be kept was told when the log turned. */
  const leave = (entry: AuditEntry): Promise<unknown> => append(entry).catch(() => undefined);
  const intents = createIntents();
  const egress = createEgressRecord();
  const end = async (reason: string): Promise<void> => {
    try {
      for (const entry of egress.rest()) await leave(entry);
      await append({ type: "session.close", reason });
    } finally {
      await chain.close();
    }
  };
  let closing: Promise<void> | undefined;
  try {
    await append({ ...opening, type: "session.open" });
  } catch (error) {
    await chain.close().catch(() => {}); // the first error is the one that matters
    throw error;
  }
  return {
    logId,
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
      if (isRefusing) throw new NotRecorded(undefined);
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
      const [oldest] = sequences.keys();
      if (sequences.size > maxIntents && oldest !== undefined) sequences.delete(oldest);
    },
    take: (id) => {
      const sequence = sequences.get(id);
      sequences.delete(id);
      return sequence;
    },
  };
}
