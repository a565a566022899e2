import { describe, expect, it } from "vitest";
import { createMemoryLeaseStore, type LeaseRecord } from "../src/index.js";
import { createMemoryProvider } from "../src/memory.js";
import { createMachine } from "./faulty.js";
import { codeOf, createLeased } from "./leased.js";

const none = { ended: 0, released: 0, unconfirmed: 0, attached: 0, lost: 0, orphans: 0 };

/** A machine whose host died with one lease in each state. */
async function crashedMachine() {
  const machine = createMachine();
  const host = machine.boot();
  const { leases } = host;
  const active = await leases.acquire({ owner: "ann", profile: "python", ttlMs: 60_000, labels: { name: "mine" } });
  const warm = await leases.warm({ profile: "python" });
  const released = await leases.acquire({ owner: "ann", profile: "python" });
  await released.release();
  host.crash();
  const rowOf = async (id: string): Promise<LeaseRecord | undefined> => machine.store.get(id);
  return { machine, active, warm, rowOf };
}

describe("a recovery", () => {
  it("ends what an earlier process left, by default also what has not expired", async () => {
    const { machine, active, warm, rowOf } = await crashedMachine();
    const { leases } = machine.boot();
    expect(await leases.recover()).toEqual({ ...none, ended: 2, released: 2 });
    expect(machine.world.workers).toEqual([]);
    expect(await rowOf(active.id)).toMatchObject({ state: "released", endReason: "recovery", owner: "ann" });
    expect(await rowOf(warm.id)).toMatchObject({ state: "released", endReason: "recovery" });
    expect(await leases.recover()).toEqual(none);
  });

  it("takes over what lives and has not expired, where it is told to", async () => {
    const { machine, active, warm, rowOf } = await crashedMachine();
    const { leases } = machine.boot({ onRecovery: "attach" });
    expect(await leases.recover()).toEqual({ ...none, ended: 1, released: 1, attached: 1 });
    expect((await rowOf(warm.id))?.state).toBe("released");
    const lease = leases.find(active.id, "ann");
    expect(lease?.record.labels).toEqual({ name: "mine" });
    expect((await lease?.run(["exit", "6"]))?.exitCode).toBe(6);
    expect(await leases.recover()).toEqual(none);
    await lease?.release();
    expect(machine.world.workers).toEqual([]);
  });

  it.each([
    { begun: "before it", sweepAtMs: 150, isGone: false },
    { begun: "while it looks", sweepAtMs: 0, isGone: false },
    { begun: "while it looks, of a worker that is gone,", sweepAtMs: 0, isGone: true },
  ])("waits for what a sweep has begun to end $begun", async ({ sweepAtMs, isGone }) => {
    const { machine, active, rowOf } = await crashedMachine();
    await machine.clock.advance(59_900);
    if (isGone) machine.world.endWorker(active.record.worker);
    const inner = createMemoryProvider({ scheduler: machine.clock.scheduler, world: machine.world });
    let goOn = (): void => undefined;
    const slow = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const provider = {
      ...inner,
      destroy: (worker: string) => slow.then(() => inner.destroy(worker)),
    };
    const { leases } = machine.boot({ providers: [provider], limits: { sweepMs: 100 } });
    await machine.clock.advance(sweepAtMs);
    let isOver = false;
    const recovering = leases.recover().finally(() => {
      isOver = true;
    });
    await machine.clock.advance(150);
    expect((await rowOf(active.id))?.state).toBe("releasing");
    expect(isOver).toBe(false);
    goOn();
    expect(await recovering).toMatchObject({ released: 2, unconfirmed: 0, lost: 0 });
    expect((await rowOf(active.id))?.state).toBe("released");
  });

  it("destroys what it cannot take over", async () => {
    const { machine, active, rowOf } = await crashedMachine();
    machine.fate = (call) => (call === "attach" ? "fails before" : undefined);
    const { leases } = machine.boot({ onRecovery: "attach" });
    expect(await leases.recover()).toMatchObject({ attached: 0, released: 2 });
    expect((await rowOf(active.id))?.endReason).toBe("recovery");
  });

  it("says lost of a lease whose worker is gone, once its absence was seen", async () => {
    const { machine, active, rowOf } = await crashedMachine();
    machine.world.endWorker(active.record.worker);
    const { leases } = machine.boot();
    expect(await leases.recover()).toEqual({ ...none, ended: 1, released: 1, lost: 1 });
    expect(await rowOf(active.id)).toMatchObject({ state: "lost", endReason: "lost", endedAt: machine.clock.now() });
  });

  it("gives expired leases the reason of their end", async () => {
    const { machine, active, rowOf } = await crashedMachine();
    await machine.clock.advance(61_000);
    machine.world.start(active.record.worker, 1_000_000);
    const { leases } = machine.boot({ onRecovery: "attach" });
    await leases.recover();
    expect(await rowOf(active.id)).toMatchObject({ state: "released", endReason: "expired" });
  });

  it("goes on with a release that was under way, and keeps its reason", async () => {
    const { machine, active, rowOf } = await crashedMachine();
    const row = await rowOf(active.id);
    await machine.store.update(active.id, row?.generation ?? 0, {
      state: "releasing",
      endReason: "idle",
      cleanupAttempts: 3,
    });
    const { leases } = machine.boot();
    await leases.recover();
    expect(await rowOf(active.id)).toMatchObject({ state: "released", endReason: "idle", cleanupAttempts: 3 });
  });

  it("destroys workers without a row, tells of them, and tries again what it cannot confirm", async () => {
    const machine = createMachine();
    machine.world.start("mcp-0123456789abcdef01234567", 1_000_000);
    machine.fate = (call) => (call === "destroy" ? "fails before" : undefined);
    const { leases } = machine.boot({ limits: { sweepMs: 1_000 } });
    expect(await leases.recover()).toEqual({ ...none, orphans: 1, unconfirmed: 1 });
    expect(machine.events).toEqual([{ kind: "orphan", provider: "memory", worker: "mcp-0123456789abcdef01234567" }]);
    expect(machine.world.workers.length).toBe(1);
    machine.fate = () => undefined;
    await machine.clock.advance(1_100);
    expect(machine.world.workers).toEqual([]);
    expect(await leases.sweep()).toEqual({ ended: 0, released: 0, unconfirmed: 0 });
  });

  it("takes no worker for one without a row that is acquired at the same time", async () => {
    const machine = createMachine();
    const { leases } = machine.boot();
    const [, lease] = await Promise.all([leases.recover(), leases.acquire({ owner: "ann", profile: "python" })]);
    expect((await lease.run(["exit", "0"])).exitCode).toBe(0);
    expect(machine.events.filter(({ kind }) => kind === "orphan")).toEqual([]);
  });

  it.each(["unknown", "fails"] as const)(
    "never says lost or released while the provider's answer is: %s",
    async (answer) => {
      const { machine, active, rowOf } = await crashedMachine();
      const { clock, world, store } = machine;
      let isSilent = true;
      const { leases, faults } = createLeased({
        clock,
        world,
        store,
        memory: {
          presence: () => (isSilent && answer === "unknown" ? "unknown" : undefined),
          onStep({ call }) {
            if (isSilent && answer === "fails" && call === "exists") throw new Error("no answer");
          },
        },
      });
      expect(await leases.recover()).toEqual({ ...none, ended: 2, unconfirmed: 2 });
      expect(await rowOf(active.id)).toMatchObject({ state: "releasing", endReason: "recovery", cleanupAttempts: 1 });
      expect(faults.length).toBeGreaterThan(0);
      isSilent = false;
      await clock.advance(1_100);
      expect((await rowOf(active.id))?.state).toBe("released");
    },
  );

  it("keeps rows of a provider that is not configured any more, and says so", async () => {
    const { machine, active, rowOf } = await crashedMachine();
    const { clock, store } = machine;
    const { leases } = createLeased({ clock, store, memory: { name: "another" }, profiles: {} });
    expect(await leases.recover()).toMatchObject({ released: 0, unconfirmed: 2 });
    expect(await rowOf(active.id)).toMatchObject({ state: "releasing", lastError: "no provider memory is configured" });
    const { leases: later } = machine.boot();
    expect(await later.recover()).toMatchObject({ released: 2 });
  });

  it("that was forgotten: rows of an earlier process count, and are swept when their time is over", async () => {
    const { machine, active, rowOf } = await crashedMachine();
    const { leases } = machine.boot({ limits: { maxPerOwner: 1 } });
    expect(await codeOf(leases.acquire({ owner: "ann", profile: "python" }))).toBe("QUOTA_REACHED");
    await machine.clock.advance(61_000);
    expect(await rowOf(active.id)).toMatchObject({ state: "released", endReason: "expired" });
    await leases.acquire({ owner: "ann", profile: "python" });
  });

  it("is told of by a store that cannot be read, and may be called again", async () => {
    const { machine } = await crashedMachine();
    machine.fate = (call) => (call === "list" ? "fails before" : undefined);
    const { leases } = machine.boot();
    expect(await codeOf(leases.recover())).toBe("STORE_FAILED");
    expect(await codeOf(leases.acquire({ owner: "bob", profile: "python" }))).toBe("STORE_FAILED");
    machine.fate = () => undefined;
    expect(await leases.recover()).toMatchObject({ released: 2 });
  });
});

describe("a sweep", () => {
  it("reads the store, so that a row that this process knows nothing of is ended too", async () => {
    const store = createMemoryLeaseStore();
    const { leases, clock } = createLeased({ store });
    const lease = await leases.acquire({ owner: "ann", profile: "python" });
    const foreign = {
      ...lease.record,
      id: "f".repeat(32),
      worker: `mcp-${"f".repeat(24)}`,
      expiresAt: clock.now() + 5,
    };
    await store.insert({ ...foreign, state: "reserved", ceilingAt: foreign.expiresAt });
    await clock.advance(30_100);
    expect(await store.get(foreign.id)).toMatchObject({ state: "released", endReason: "hard-limit" });
    expect((await store.get(lease.id))?.state).toBe("active");
  });

  it("goes on although the store fails for a while, and tells of it", async () => {
    const machine = createMachine();
    const { leases } = machine.boot({ limits: { sweepMs: 1_000 } });
    const lease = await leases.acquire({ owner: "ann", profile: "python", ttlMs: 2_000 });
    machine.fate = (call) => (call === "listDue" ? "fails before" : undefined);
    await machine.clock.advance(3_000);
    expect(machine.faults.length).toBeGreaterThan(0);
    machine.fate = () => undefined;
    await machine.clock.advance(1_100);
    expect((await machine.store.get(lease.id))?.state).toBe("released");
  });
});
