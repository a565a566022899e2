import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { openChain } from "./append.js";
import type { Durability } from "./chain.js";
import type { Receipt } from "./entry.js";
import { ChainError } from "./errors.js";
import type { JsonValue } from "./json-value.js";
import { type LastingChain, openLastingChain } from "./lasting-chain.js";
import { recordable } from "./recordable.js";

/** An entry before its session is added; `undefined` members are left out. */
export interface SessionEntry {
  readonly type: string;
  readonly [member: string]: JsonValue | undefined;
}

/** What `openSessionLog` takes. */
export interface SessionLogOptions {
  /** Holds the logs of all processes, each in a folder of its own: any number may write at once. */
  readonly folder: string;
  /** Default `batch`. */
  readonly durability?: Durability | undefined;
  /** What `session.open` says beside its session. */
  readonly opening: Readonly<Record<string, JsonValue | undefined>>;
  /** Wall clock in milliseconds since 1970, such as `Date.now`. */
  now(): number;
  /** Told when entries are refused, with the reason, and when they are taken again. Must not throw. */
  readonly onTurn?: ((refusal: unknown) => void) | undefined;
}

/** The log of one process: one session, bracketed by its opening and its close, for steps that are not done without an entry. */
export interface SessionLog extends AsyncDisposable {
  /** The time of its opening to the millisecond, and the session: the names of logs are in the order in which these were opened. */
  readonly logId: string;
  readonly session: string;
  /**
   * Writes an entry, whatever names others chose for what it tells (`recordable`). After a failed write, such as on a full disk, the
   * log is opened again, once a second at most: entries are refused while they cannot be kept, and no longer.
   * @throws {ChainError} `AUDIT_UNAVAILABLE`: what it tells must then not be done; `cause` says why.
   */
  append(entry: SessionEntry): Promise<Receipt>;
  /** For a step that cannot wait. @throws {ChainError} `AUDIT_UNAVAILABLE` when the last entry was refused. */
  throwIfRefusing(): void;
  /** Writes `session.close`, then ends the log. The first call's reason counts. */
  close(reason?: string): Promise<void>;
}

/**
 * Begins the log of this process.
 * @throws {ChainError} as `openChain`, and `AUDIT_UNAVAILABLE` when its first entry cannot be written.
 */
export async function openSessionLog(options: SessionLogOptions): Promise<SessionLog> {
  const { folder, durability, opening, now, onTurn = () => undefined } = options;
  const session = randomUUID();
  const logId = `${new Date(now()).toISOString().replace(/[-:]/gu, "")}-${session.slice(0, 8)}`;
  const directory = join(folder, logId);
  const monotonic = (): number => performance.now();
  const chain = await openLastingChain({
    open: () => openChain({ directory, durability, now, monotonic }),
    now: monotonic,
  });
  return bracket({ chain, logId, session, opening, onTurn });
}

interface BracketParts {
  readonly chain: LastingChain;
  readonly logId: string;
  readonly session: string;
  readonly opening: SessionLogOptions["opening"];
  readonly onTurn: (refusal: unknown) => void;
}

/** Opens the session in a chain; closes the chain when that cannot be written. */
export async function bracket({ chain, logId, session, opening, onTurn }: BracketParts): Promise<SessionLog> {
  let isRefusing = false;
  const turn = (refusal?: unknown): void => {
    if (isRefusing !== (refusal !== undefined)) onTurn(refusal);
    isRefusing = refusal !== undefined;
  };
  const append = async (entry: SessionEntry): Promise<Receipt> => {
    try {
      const receipt = await chain.append({ ...recordable(entry), type: entry.type, session });
      turn();
      return receipt;
    } catch (fault) {
      turn(fault);
      throw notRecorded(fault);
    }
  };
  const end = async (reason: string): Promise<void> => {
    try {
      await append({ type: "session.close", reason });
    } finally {
      await chain.close();
    }
  };
  try {
    await append({ ...opening, type: "session.open" });
  } catch (error) {
    await chain.close().catch(() => {}); // the first error is the one that matters
    throw error;
  }
  let closing: Promise<void> | undefined;
  const close = (reason = "closed"): Promise<void> => (closing ??= end(reason));
  return {
    logId,
    session,
    append,
    throwIfRefusing: () => {
      if (isRefusing) throw notRecorded(undefined);
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

function notRecorded(cause: unknown): ChainError {
  return new ChainError("AUDIT_UNAVAILABLE", "the audit log takes no entries now", { cause });
}
