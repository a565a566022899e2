import { describe, expect, it } from "vitest";
import { createMemoryLeaseStore, type Lease, type LeaseStore } from "../src/index.js";
import { createTestClock, settle } from "./clock.js";
import { createMachine } from "./faulty.js";
import { codeOf, createLeased, type LeasedOptions } from "./leased.js";

const hour = 3_600_000;

async function acquired(options: LeasedOptions = {}, more: { ttlMs?: number; idleMs?: number } = {}) {
  const leased = createLeased(options);
  const lease = await leased.leases.acquire({ owner: "ann", profile: "python", ...more });
  const stateOf = async (): Promise<string | undefined> => (await leased.store.get(lease.id))?.state;
  return { ...leased, lease, stateOf };
}

/** A clock whose timers never ring: no sweep ever comes. */
function withoutTimers(): ReturnType<typeof createTestClock> {
  const clock = createTestClock();
  return { ...clock, scheduler: { now: clock.scheduler.now, after: () => ({ cancel: () => undefined }) } };
}

describe("the lifetime of a lease", () => {
  it("is 15 minutes unless it says otherwise, and ends with the reason", async () => {
    const { lease, clock, stateOf, world } = await acquired();
    expect(lease.record.expiresAt - lease.record.createdAt).toBe(900_000);
    await clock.advance(899_900);
    expect(await stateOf()).toBe("active");
    await clock.advance(200);
    expect(await stateOf()).toBe("released");
    expect((await lease.ended).reason).toBe("expired");
    expect(lease.record).toMatchObject({ endReason: "expired", endedAt: clock.now() - 100 });
    expect(world.workers).toEqual([]);
  });

  it("is over for every call although no sweep has run", async () => {
    const { lease, clock, leases } = await acquired({ clock: withoutTimers() }, { ttlMs: 1_000 });
    await clock.advance(1_000);
    expect(await codeOf(lease.run(["exit"]))).toBe("LEASE_EXPIRED");
    expect(await codeOf(lease.open(["copy"]))).toBe("LEASE_EXPIRED");
    expect(await codeOf(lease.openTerminal())).toBe("LEASE_EXPIRED");
    expect(await codeOf(lease.installPackages([]))).toBe("LEASE_EXPIRED");
    expect(await codeOf(lease.requestResource({ port: 1, method: "GET", path: "/" }))).toBe("LEASE_EXPIRED");
    expect(await codeOf(lease.renew({ ttlMs: 5_000 }))).toBe("LEASE_EXPIRED");
    lease.touch();
    expect(leases.find(lease.id, "ann")).toBeUndefined();
    expect((await leases.get(lease.id, "ann")).state).toBe("active");
  });

  it("gives no result of a command that was under way when it was over", async () => {
    const { lease, clock } = await acquired({ clock: withoutTimers() }, { ttlMs: 1_000 });
    const interrupt = new AbortController();
    const running = codeOf(lease.run(["wait"], { interrupt: interrupt.signal }));
    await settle();
    await clock.advance(1_500);
    interrupt.abort();
    expect(await running).toBe("LEASE_EXPIRED");
  });

  it.each([-hour, -1, 1, hour])("is neither longer nor shorter when the wall clock is set by %d ms", async (byMs) => {
    const { lease, clock, stateOf, leases } = await acquired({}, { ttlMs: 60_000 });
    clock.setWall(byMs);
    await leases.sweep();
    await clock.advance(59_900);
    expect(await stateOf()).toBe("active");
    expect((await lease.run(["exit", "0"])).exitCode).toBe(0);
    await clock.advance(200);
    expect(await stateOf()).toBe("released");
  });

  it.each([0, 999, 1.5, 86_400_001, Number.NaN])("cannot be %d ms", async (ttlMs) => {
    const { leases } = createLeased();
    expect(await codeOf(leases.acquire({ owner: "ann", profile: "python", ttlMs }))).toBe("OPTION_INVALID");
  });
});

describe("a renewal", () => {
  it("counts from now, and never shortens", async () => {
    const { lease, clock, stateOf } = await acquired({}, { ttlMs: 60_000 });
    const { expiresAt, generation } = lease.record;
    await clock.advance(10_000);
    const longer = await lease.renew({ ttlMs: 60_000 });
    expect(longer).toMatchObject({ expiresAt: expiresAt + 10_000, generation: generation + 1, state: "active" });
    expect((await lease.renew({ ttlMs: 1_000 })).expiresAt).toBe(longer.expiresAt);
    await clock.advance(59_000);
    expect(await stateOf()).toBe("active");
    await clock.advance(2_000);
    expect(await stateOf()).toBe("released");
  });

  it("ends at the ceiling, and the lease with it", async () => {
    const { lease, clock } = await acquired({ limits: { maxLifetimeMs: 100_000 } }, { ttlMs: 60_000 });
    await clock.advance(50_000);
    const renewed = await lease.renew({ ttlMs: 100_000 });
    expect(renewed.expiresAt).toBe(renewed.ceilingAt);
    expect(renewed.expiresAt).toBe(clock.now() + 50_000);
    await clock.advance(51_000);
    expect((await lease.ended).reason).toBe("hard-limit");
  });

  it("is refused with an old fencing token", async () => {
    const { lease } = await acquired();
    const { generation } = lease.record;
    await lease.renew({ ttlMs: 900_000, generation });
    expect(await codeOf(lease.renew({ ttlMs: 900_000, generation }))).toBe("GENERATION_STALE");
    expect(lease.record.generation).toBe(generation + 1);
  });

  it("of two with the same token, lets one through", async () => {
    const { lease } = await acquired();
    const { generation } = lease.record;
    const both = [1, 2].map(() => codeOf(lease.renew({ ttlMs: 900_000, generation })));
    expect((await Promise.all(both)).sort()).toEqual(["GENERATION_STALE", "resolved"]);
  });

  it("does not race the expiry: while it is on its way to the disk the lease lives", async () => {
    const inner = createMemoryLeaseStore();
    let arrive: (() => void) | undefined;
    const store: LeaseStore = {
      ...inner,
      async update(id, generation, change) {
        if (change.expiresAt !== undefined && change.state === undefined) {
          await new Promise<void>((resolve) => {
            arrive = resolve;
          });
        }
        return inner.update(id, generation, change);
      },
    };
    const { lease, clock, stateOf } = await acquired({ store }, { ttlMs: 1_000 });
    const renewing = lease.renew({ ttlMs: 60_000 });
    await clock.advance(1_500);
    arrive?.();
    expect((await renewing).expiresAt).toBeGreaterThan(clock.now());
    await clock.advance(50_000);
    expect(await stateOf()).toBe("active");
  });

  it("that could not be written down changes nothing", async () => {
    const machine = createMachine();
    const { leases } = machine.boot();
    const lease = await leases.acquire({ owner: "ann", profile: "python", ttlMs: 1_000 });
    machine.fate = (call) => (call === "update same" ? "fails before" : undefined);
    expect(await codeOf(lease.renew({ ttlMs: 60_000 }))).toBe("STORE_FAILED");
    machine.fate = () => undefined;
    await machine.clock.advance(1_100);
    expect((await lease.ended).reason).toBe("expired");
  });

  it.each([{ ttlMs: 999 }, { ttlMs: 86_400_001 }, { ttlMs: 5_000, generation: 0 }, { ttlMs: 5_000, generation: 1.5 }])(
    "cannot be %j",
    async (options) => {
      const { lease } = await acquired();
      expect(await codeOf(lease.renew(options))).toBe("OPTION_INVALID");
    },
  );
});

describe("the idle time of a lease", () => {
  it("ends it when nothing was done for so long", async () => {
    const { lease, clock } = await acquired({}, { idleMs: 10_000 });
    await clock.advance(9_000);
    await lease.run(["exit"]);
    await clock.advance(9_000);
    lease.touch();
    await clock.advance(9_000);
    await lease.renew({ ttlMs: 900_000 });
    await clock.advance(9_900);
    expect(lease.record.state).toBe("active");
    await clock.advance(200);
    expect((await lease.ended).reason).toBe("idle");
    expect(await codeOf(lease.run(["exit"]))).toBe("LEASE_EXPIRED");
  });

  it("does not run while an operation runs", async () => {
    const { lease, clock } = await acquired({}, { idleMs: 10_000 });
    const interrupt = new AbortController();
    const running = lease.run(["wait"], { interrupt: interrupt.signal });
    await clock.advance(60_000);
    interrupt.abort();
    expect((await running).exitCode).toBe(130);
    await clock.advance(9_900);
    expect(lease.record.state).toBe("active");
    await clock.advance(200);
    expect((await lease.ended).reason).toBe("idle");
  });

  it("is in the row, so that a later process knows it", async () => {
    const { lease, clock, store } = await acquired({}, { idleMs: 10_000 });
    await clock.advance(5_000);
    lease.touch();
    expect((await store.get(lease.id))?.lastUsedAt).toBe(clock.now());
    expect((await store.listDue(clock.now() + 9_999)).length).toBe(0);
    expect((await store.listDue(clock.now() + 10_000)).length).toBe(1);
  });
});

describe("the time of a command", () => {
  it("is the policy's, also when more is asked for, and the lease lives on", async () => {
    const profiles = { python: { provider: "memory", template: "x", policy: { commandTimeoutMs: 5_000 } } };
    const { lease, clock } = await acquired({ profiles });
    for (const timeoutMs of [undefined, 60_000]) {
      const running = codeOf(lease.run(["resist"], { timeoutMs }));
      await clock.advance(5_000);
      expect(await running).toBe("COMMAND_TIMEOUT");
    }
    expect((await lease.run(["exit", "0"])).exitCode).toBe(0);
  });
});

describe("the second enforcer, inside", () => {
  /** Remaining milliseconds that the worker was told, in order. */
  async function spied(more: { ttlMs: number }) {
    const told: number[] = [];
    const leased = createLeased();
    const { create } = leased.provider;
    Object.assign(leased.provider, {
      create: async (...given: Parameters<typeof create>) => {
        told.push(given[2].deadlineMs);
        const environment = await create(...given);
        const setDeadline = (ms: number): void => {
          told.push(ms);
          environment.setDeadline(ms);
        };
        return { ...environment, setDeadline };
      },
    });
    const lease = await leased.leases.acquire({ owner: "ann", profile: "python", ...more });
    return { ...leased, lease, told };
  }

  it("is told the expiry and two seconds, at the activation and at each renewal", async () => {
    const { lease, clock, told } = await spied({ ttlMs: 60_000 });
    await clock.advance(10_000);
    await lease.renew({ ttlMs: 90_000 });
    expect(told).toEqual([62_000, 62_000, 92_000]);
  });

  it("ends a worker whose host hangs or is gone", async () => {
    const machine = createMachine();
    const host = machine.boot();
    await host.leases.acquire({ owner: "ann", profile: "python", ttlMs: 60_000 });
    host.crash();
    await machine.clock.advance(61_900);
    expect(machine.world.workers.length).toBe(1);
    await machine.clock.advance(200);
    expect(machine.world.workers).toEqual([]);
  });
});

describe("a lease that a later process takes over", () => {
  async function crashedAfter(useMs: number, lease?: (lease: Lease) => Promise<unknown>) {
    const machine = createMachine();
    const host = machine.boot();
    const own = await host.leases.acquire({ owner: "ann", profile: "python", ttlMs: 60_000 });
    await machine.clock.advance(useMs);
    await lease?.(own);
    host.crash();
    const later = (): ReturnType<typeof machine.boot> => machine.boot({ onRecovery: "attach" });
    return { machine, id: own.id, later };
  }

  it("has what was left of its life", async () => {
    const { machine, id, later } = await crashedAfter(20_000);
    const { leases } = later();
    expect(await leases.recover()).toMatchObject({ attached: 1, released: 0 });
    const lease = leases.find(id, "ann");
    expect((await lease?.run(["exit", "4"]))?.exitCode).toBe(4);
    await machine.clock.advance(39_900);
    expect((await leases.get(id)).state).toBe("active");
    await machine.clock.advance(200);
    expect(await leases.get(id)).toMatchObject({ state: "released", endReason: "expired" });
  });

  it("has no more life than at its last use, although the clock was set back meanwhile", async () => {
    const { machine, id, later } = await crashedAfter(20_000, (lease) => lease.run(["exit"]));
    machine.clock.setWall(-hour);
    const { leases } = later();
    await leases.recover();
    await machine.clock.advance(39_900);
    expect((await leases.get(id)).state).toBe("active");
    await machine.clock.advance(200);
    expect((await leases.get(id)).state).toBe("released");
  });

  it("is over when the clock was set forward past its expiry meanwhile", async () => {
    const { machine, id, later } = await crashedAfter(20_000);
    machine.clock.setWall(hour);
    const { leases } = later();
    expect(await leases.recover()).toMatchObject({ attached: 0, released: 1 });
    expect(await leases.get(id)).toMatchObject({ state: "released", endReason: "expired" });
  });
});
