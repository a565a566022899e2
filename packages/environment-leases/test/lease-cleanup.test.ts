import { describe, expect, it } from "vitest";
import type { MemoryStep } from "../src/memory.js";
import { createTestClock } from "./clock.js";
import { createMachine } from "./faulty.js";
import { codeOf, createLeased, type LeasedOptions } from "./leased.js";

async function acquired(options: LeasedOptions = {}) {
  const leased = createLeased(options);
  const lease = await leased.leases.acquire({ owner: "ann", profile: "open" });
  return { ...leased, lease };
}

const never = new Promise<void>(() => undefined);

describe("a cleanup that cannot be confirmed", () => {
  it.each(["unknown", "yes"] as const)(
    "stays releasing while the provider says %s, and is tried again: 1 s, 2 s … 300 s",
    async (said) => {
      let presence: "unknown" | "yes" | undefined = said;
      const attempts: number[] = [];
      const { lease, clock, store, leases, faults } = await acquired({
        memory: {
          presence: () => presence,
          onStep({ call, when }) {
            if (call === "destroy" && when === "before") attempts.push(clock.scheduler.now());
          },
        },
      });
      expect(await codeOf(lease.release())).toBe("CLEANUP_UNCONFIRMED");
      const [row] = await leases.list({ owner: "ann" });
      expect(row).toMatchObject({ state: "releasing", cleanupAttempts: 1, endReason: "released", endedAt: undefined });
      expect(row?.lastError).toContain(said);
      await clock.advance(1_200_000);
      const waits = attempts.slice(1).map((at, index) => Math.round((at - (attempts[index] ?? 0)) / 1_000));
      expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
      expect((await store.get(lease.id))?.state).toBe("releasing");
      expect(faults.length).toBeGreaterThan(0);
      presence = undefined;
      await clock.advance(300_000);
      expect((await store.get(lease.id))?.state).toBe("released");
      expect((await lease.ended).reason).toBe("released");
    },
  );

  it("is tried again at once by a sweep that is asked for", async () => {
    let presence: "unknown" | undefined = "unknown";
    const { lease, leases } = await acquired({ memory: { presence: () => presence } });
    await codeOf(lease.release());
    expect(await leases.sweep()).toEqual({ ended: 0, released: 0, unconfirmed: 1 });
    presence = undefined;
    expect(await leases.sweep()).toEqual({ ended: 0, released: 1, unconfirmed: 0 });
    expect(await leases.sweep()).toEqual({ ended: 0, released: 0, unconfirmed: 0 });
  });

  it.each([
    { name: "that fails to destroy", onStep: fail("destroy") },
    { name: "that cannot say", onStep: fail("exists") },
    { name: "that does not answer", onStep: ({ call }: MemoryStep) => (call === "destroy" ? never : undefined) },
  ])("is told of by a provider $name", async ({ onStep }) => {
    const { lease, clock, store } = await acquired({ memory: { onStep }, limits: { destroyMs: 1_000 } });
    const released = codeOf(lease.release());
    await clock.advance(1_000);
    expect(await released).toBe("CLEANUP_UNCONFIRMED");
    expect((await store.get(lease.id))?.state).toBe("releasing");
  });

  it.each([
    { slowMs: 20_000, told: "resolved", state: "released" },
    { slowMs: 40_000, told: "CLEANUP_UNCONFIRMED", state: "releasing" },
  ])("is one of an end that takes $slowMs ms only after destroyMs, and a sweep confirms it", async (row) => {
    const { lease, leases, clock, store } = await acquired({
      limits: { destroyMs: 30_000 },
      memory: {
        onStep({ call, when }) {
          if (call !== "destroy" || when !== "before") return undefined;
          return new Promise((resolve) => void clock.scheduler.after(row.slowMs - clock.scheduler.now(), resolve));
        },
      },
      clock: createTestClock(),
    });
    const released = codeOf(lease.release());
    await clock.advance(30_000);
    expect(await released).toBe(row.told);
    expect((await store.get(lease.id))?.state).toBe(row.state);
    if (row.state === "releasing") expect((await store.get(lease.id))?.lastError).toMatch(/30000 ms \(destroyMs\)/);
    const swept = leases.sweep();
    await clock.advance(30_000);
    expect(await swept).toMatchObject({ unconfirmed: 0 });
    expect((await store.get(lease.id))?.state).toBe("released");
  });

  it("is never taken for one when its store fails, and is written down later", async () => {
    const machine = createMachine();
    const { leases } = machine.boot();
    const lease = await leases.acquire({ owner: "ann", profile: "python" });
    machine.fate = (call) => (call.startsWith("update") ? "fails before" : undefined);
    expect(await codeOf(lease.release())).toBe("STORE_FAILED");
    expect(machine.world.workers, "work is stopped all the same").toEqual([]);
    machine.fate = () => undefined;
    await machine.clock.advance(10_000);
    expect(await leases.get(lease.id)).toMatchObject({ state: "released", endReason: "released" });
  });
});

function fail(failed: string) {
  return ({ call, when }: MemoryStep): void => {
    if (call === failed && when === "before") throw new Error(`no ${call}`);
  };
}

describe("rows that have ended", () => {
  it("are kept for the retention time", async () => {
    const { leases, lease, clock } = await acquired({ limits: { retentionMs: 60_000, sweepMs: 1_000 } });
    await lease.release();
    await clock.advance(59_000);
    expect((await leases.list()).length).toBe(1);
    await clock.advance(3_000);
    expect(await leases.list()).toEqual([]);
  });
});
