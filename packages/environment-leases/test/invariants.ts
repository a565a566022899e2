import { expect } from "vitest";
import type { LeaseRecord } from "../src/index.js";
import type { Machine } from "./faulty.js";

/** Looks at a machine again and again; fails when what must always hold does not. */
export interface Watcher {
  look(): Promise<void>;
}

export function watchMachine({ store, world }: Machine): Watcher {
  const seen = new Map<string, LeaseRecord>();
  return {
    async look() {
      const rows = await store.list();
      const byWorker = new Map(rows.map((row) => [row.worker, row]));
      for (const worker of world.workers) {
        const state = byWorker.get(worker)?.state;
        expect(state, `${worker} lives, so its row is not terminal`).toMatch(/^(reserved|active|releasing)$/);
      }
      for (const row of rows) {
        const before = seen.get(row.id);
        seen.set(row.id, row);
        if (before !== undefined) compare(before, row);
      }
    },
  };
}

function compare(before: LeaseRecord, row: LeaseRecord): void {
  if (before.owner !== undefined) expect(row.owner, "its owner never changes").toBe(before.owner);
  expect(row.generation).toBeGreaterThanOrEqual(before.generation);
  expect(row.worker).toBe(before.worker);
  if (before.state === "active" && row.state === "active") {
    expect(row.expiresAt, "its life never shortens").toBeGreaterThanOrEqual(before.expiresAt);
    expect(row.expiresAt).toBeLessThanOrEqual(row.ceilingAt);
    expect(row.ceilingAt).toBe(before.ceilingAt);
  }
  if (before.endedAt !== undefined) expect(row, "a terminal row never changes").toEqual(before);
}

/** Brings everything to its end: no faults any more, one more host, time. Then nothing may be left. */
export async function assertAllEnds(machine: Machine): Promise<void> {
  machine.fate = () => undefined;
  const watcher = watchMachine(machine);
  const last = machine.boot();
  await last.leases.recover();
  await watcher.look();
  expect(machine.world.workers, "no worker is left").toEqual([]);
  const states = (await machine.store.list()).map(({ state }) => state);
  expect(states.filter((state) => state !== "released" && state !== "lost")).toEqual([]);
  const again = await last.leases.recover();
  expect(again).toEqual({ ended: 0, released: 0, unconfirmed: 0, attached: 0, lost: 0, orphans: 0 });
  const lease = await last.leases.acquire({ owner: "after", profile: "python" });
  expect((await lease.run(["exit", "0"])).exitCode).toBe(0);
  await last.leases.close();
  expect(machine.world.workers).toEqual([]);
}
