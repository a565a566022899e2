import { isTerminal, type LeaseRecord } from "../lease.js";
import type { Connection } from "./connection.js";
import type { StoreTerms } from "./options.js";

/** Last uses: remembered at once, written together. */
export interface Touches {
  /** Remembers one of a living lease; else nothing. Never throws. */
  add(id: string, lastUsedAt: number): void;
  /** The row as it is with what is remembered. */
  over(record: LeaseRecord): LeaseRecord;
  /** Forgets one: it is written with its row. */
  drop(id: string): void;
  /** Writes what is remembered, as far as that is possible, and ends the timer. */
  flush(): void;
}

/** At most one is remembered for each lease, and at most `maxPendingTouches` before they are written. */
export function createTouches(connection: Connection, terms: StoreTerms): Touches {
  const pending = new Map<string, number>();
  let timer: { cancel(): void } | undefined;

  const over = (record: LeaseRecord): LeaseRecord => {
    const lastUsedAt = pending.get(record.id);
    return lastUsedAt === undefined ? record : Object.freeze({ ...record, lastUsedAt });
  };
  const flush = (): void => {
    timer?.cancel();
    timer = undefined;
    if (pending.size === 0) return;
    connection.tryWrite((table) => {
      for (const id of pending.keys()) {
        const record = table.get(id);
        if (record !== undefined) table.replace(over(record));
      }
    });
    // Also when it failed: a last use may be lost, and what waits is bounded.
    pending.clear();
  };
  const isLiving = (id: string): boolean =>
    connection.tryRead((table) => {
      const record = table.get(id);
      return record !== undefined && !isTerminal(record.state);
    });
  return {
    add: (id, lastUsedAt) => {
      if (!pending.has(id) && !isLiving(id)) return;
      pending.set(id, lastUsedAt);
      if (pending.size >= terms.maxPendingTouches) flush();
      else timer ??= terms.scheduler.after(terms.touchMs, flush);
    },
    over,
    drop: (id) => {
      pending.delete(id);
    },
    flush,
  };
}
