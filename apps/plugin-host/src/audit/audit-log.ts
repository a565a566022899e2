import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { openChain, recordable } from "@berth/audit-chain";
import type { AuditEntry } from "./audit-entries.js";
import { openLastingChain } from "./lasting-chain.js";
import { NotRecorded } from "./not-recorded.js";

/** The log of one process, bracketed by its opening and its close. */
export interface AuditLog {
  readonly logId: string;
  /** @throws {NotRecorded} for what the log did not take; it must then not be answered. */
  record(entry: AuditEntry): Promise<void>;
  /** Writes `session.close`, then ends the log. */
  close(reason: string): Promise<void>;
}

export interface AuditLogOptions {
  /** The state folder's `audit`. */
  readonly folder: string;
  /** What `session.open` says beside its session. */
  readonly opening: Omit<AuditEntry, "type">;
  readonly now: () => number;
  /** Told when entries are refused, with the reason, and when they are taken again. */
  readonly onTurn?: ((refusal: unknown) => void) | undefined;
}

/** Begins the log of this process, in a folder of its own. */
export async function openAuditLog(options: AuditLogOptions): Promise<AuditLog> {
  const { folder, opening, now, onTurn = () => undefined } = options;
  const session = randomUUID();
  const logId = `${new Date(now()).toISOString().replace(/[-:]|\.\d+/gu, "")}-${session.slice(0, 8)}`;
  const directory = join(folder, logId);
  const monotonic = (): number => performance.now();
  const chain = await openLastingChain({
    open: () => openChain({ directory, durability: "batch", now, monotonic }),
    now: monotonic,
  });
  let isRefusing = false;
  const turn = (refusal?: unknown): void => {
    if (isRefusing !== (refusal !== undefined)) onTurn(refusal);
    isRefusing = refusal !== undefined;
  };
  const record = async (entry: AuditEntry): Promise<void> => {
    try {
      await chain.append({ ...recordable(entry), type: entry.type, session });
      turn();
    } catch (fault) {
      turn(fault);
      throw new NotRecorded(fault);
    }
  };
  const end = async (reason: string): Promise<void> => {
    try {
      await record({ type: "session.close", reason });
    } finally {
      await chain.close();
    }
  };
  let closing: Promise<void> | undefined;
  try {
    await record({ ...opening, type: "session.open" });
  } catch (error) {
    await chain.close().catch(() => {}); // the first error is the one that matters
    throw error;
  }
  return { logId, record, close: (reason) => (closing ??= end(reason)) };
}
