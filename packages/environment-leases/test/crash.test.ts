import { describe, expect, it } from "vitest";
import type { Leases } from "../src/index.js";
import { settle } from "./clock.js";
import { createMachine, type Fate, type Machine } from "./faulty.js";
import { assertAllEnds, watchMachine } from "./invariants.js";

/** The whole life of some leases: each call of store and provider in it is a point at which the host may die. */
async function liveALife({ clock, world }: Machine, leases: Leases): Promise<void> {
  await leases.recover();
  const lease = await leases.acquire({ owner: "ann", profile: "python", ttlMs: 10_000 });
  const warm = await leases.warm({ profile: "python" });
  await lease.run(["exit", "0"]);
  const other = await warm.activate({ owner: "bob", ttlMs: 5_000, idleMs: 2_000 });
  await lease.renew({ ttlMs: 20_000 });
  await clock.advance(2_500);
  await leases.sweep();
  const third = await leases.acquire({ owner: "cid", profile: "python" });
  world.endWorker(third.record.worker, { reason: "memory", detail: "16 MiB" });
  await settle();
  await lease.release();
  await leases.sweep();
  await leases.acquire({ owner: "dan", profile: "python" });
  await other.release();
  await leases.close();
}

/** Runs it until it is through or its host is dead; nothing that a dead host waits for ever comes. */
async function runUntilDead(machine: Machine, options = {}): Promise<number> {
  let calls = 0;
  const { fate } = machine;
  machine.fate = (call) => {
    calls += 1;
    return fate(String(calls)) ?? fate(call);
  };
  const host = machine.boot(options);
  let isOver = false;
  const over = liveALife(machine, host.leases)
    .catch(() => undefined) // a fault that its caller was told
    .finally(() => {
      isOver = true;
    });
  while (!isOver && host.isAlive) await settle();
  if (isOver) await over;
  host.crash();
  return calls;
}

async function countCalls(): Promise<number> {
  const machine = createMachine();
  const calls = await runUntilDead(machine);
  expect(machine.faults).toEqual([]);
  expect(machine.world.workers).toEqual([]);
  return calls;
}

const fates: readonly Fate[] = ["crashes before", "crashes after", "fails before", "fails after"];

describe("a host that dies or is failed at any call of its store or provider", () => {
  it.each(fates)("leaves nothing that the next host does not end: each call %s", async (fate) => {
    const calls = await countCalls();
    expect(calls).toBeGreaterThan(35);
    for (let point = 1; point <= calls; point += 1) {
      const machine = createMachine();
      const watcher = watchMachine(machine);
      machine.fate = (call) => (call === String(point) ? fate : undefined);
      await runUntilDead(machine);
      await watcher.look();
      await assertAllEnds(machine);
    }
  });

  it.each(["destroy", "attach"] as const)(
    "recovers although it dies in recovery, at any call (%s)",
    async (onRecovery) => {
      for (let point = 14; point < 60; point += 6) {
        for (let second = 1; ; second += 1) {
          const machine = createMachine();
          machine.fate = (call) => (call === String(point) ? "crashes after" : undefined);
          await runUntilDead(machine);
          const watcher = watchMachine(machine);
          let calls = 0;
          machine.fate = () => {
            calls += 1;
            return calls === second ? "crashes before" : undefined;
          };
          const host = machine.boot({ onRecovery });
          void host.leases.recover();
          await settle();
          await watcher.look();
          const isThrough = host.isAlive;
          host.crash();
          await assertAllEnds(machine);
          if (isThrough) break;
        }
      }
    },
  );
});
