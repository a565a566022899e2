import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type Durability, openChain, type Receipt } from "@berth/audit-chain";
import type { SessionEvent } from "@berth/code-sessions";
import type { LeaseEvent } from "@berth/environment-leases";
import { type AuditEntry, leaseEntry, sessionEntry } from "./audit-entries.js";
import { openLastingChain } from "./lasting-chain.js";
import { recordable } from "./recordable.js";

/** The log of one process, bracketed by its opening and its close. */
export interface AuditLog {
  readonly logId: string;
  /** For `createLeases`: a rejection refuses the step. */
  recordLease(event: LeaseEvent): Promise<void>;
  /** For `createSessions`: a rejection refuses the call. */
  recordSession(event: SessionEvent): Promise<void>;
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
}

/** Begins the log of this process, in a folder of its own. */
export async function openAuditLog({ folder, durability, opening, now }: AuditLogOptions): Promise<AuditLog> {
  const session = randomUUID();
  const logId = `${new Date(now()).toISOString().replace(/[-:]|\.\d+/gu, "")}-${session.slice(0, 8)}`;
  const directory = join(folder, logId);
  const monotonic = (): number => performance.now();
  const chain = await openLastingChain({
    open: () => openChain({ directory, durability, now, monotonic }),
    now: monotonic,
  });
  const append = (entry: AuditEntry): Promise<Receipt> =>
    chain.append({ ...recordable(entry), type: entry.type, session });
  const intents = createIntents();
  const end = async (reason: string): Promise<void> => {
    try {
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
