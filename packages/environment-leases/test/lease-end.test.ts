import { describe, expect, it } from "vitest";
import { createMemoryLeaseStore, type EnvironmentEnd, type LeaseEndReason } from "../src/index.js";
import { settle } from "./clock.js";
import { codeOf, createLeased, type LeasedOptions, text } from "./leased.js";

async function acquired(options: LeasedOptions = {}) {
  const leased = createLeased(options);
  const lease = await leased.leases.acquire({ owner: "ann", profile: "open" });
  return { ...leased, lease };
}

describe("a release", () => {
  it("is written down before the worker is destroyed, and again once its absence was seen", async () => {
    const order: string[] = [];
    const inner = createMemoryLeaseStore();
    const { lease } = await acquired({
      store: {
        ...inner,
        update(id, generation, change) {
          if (change.state !== undefined) order.push(change.state);
          return inner.update(id, generation, change);
        },
      },
      memory: { onStep: ({ call, when }) => void (when === "before" && order.push(call)) },
    });
    await lease.release();
    expect(order).toEqual(["create", "active", "releasing", "destroy", "exists", "released"]);
  });

  it("may be asked for again, at once and later, and by its disposal", async () => {
    const { lease, leases, store } = await acquired();
    await Promise.all([
      lease.release(),
      lease.release("operator"),
      leases.release(lease.id),
      lease[Symbol.asyncDispose](),
    ]);
    await lease.release();
    expect((await leases.release(lease.id)).state).toBe("released");
    expect(await store.get(lease.id)).toMatchObject({ endReason: "released", cleanupAttempts: 0 });
  });

  it("interrupts what runs and waits for it, discards its result, and refuses what waits", async () => {
    const { lease, clock, world } = await acquired();
    const running = codeOf(lease.run(["wait"]));
    const waiting = codeOf(lease.run(["exit"]));
    await settle();
    const release = lease.release();
    expect(await codeOf(lease.run(["exit"]))).toBe("LEASE_ENDED");
    await release;
    expect([await running, await waiting]).toEqual(["LEASE_ENDED", "LEASE_ENDED"]);
    expect(world.workers).toEqual([]);
    expect(clock.scheduler.now()).toBe(1_000);
  });

  it("kills what does not end within the grace", async () => {
    const { lease, clock, world } = await acquired({ limits: { graceMs: 3_000 } });
    const running = codeOf(lease.run(["resist"]));
    await settle();
    const release = lease.release();
    await clock.advance(2_900);
    expect(world.workers.length).toBe(1);
    await clock.advance(200);
    expect(await running).toBe("LEASE_ENDED");
    await release;
    expect(world.workers).toEqual([]);
  });

  it("closes the processes and terminals that were opened", async () => {
    const { lease } = await acquired();
    const process = await lease.open(["copy"]);
    const terminal = await lease.openTerminal();
    await terminal.write(Buffer.from("hello"));
    expect(text(await terminal.read())).toBe("hello");
    const waiting = terminal.read();
    await lease.release();
    expect((await process.exited).signal).toBe("SIGKILL");
    expect((await waiting).length).toBe(0);
  });

  it("of a foreign owner is refused like one of nothing", async () => {
    const { lease, leases, world } = await acquired();
    expect(await codeOf(leases.release(lease.id, { owner: "bob" }))).toBe("LEASE_NOT_FOUND");
    expect(await codeOf(leases.release("0".repeat(32), { owner: "bob" }))).toBe("LEASE_NOT_FOUND");
    expect(world.workers.length).toBe(1);
    const released = await leases.release(lease.id, { owner: "ann" });
    expect(released).toMatchObject({ state: "released", endReason: "released" });
  });
});

describe("a worker that ends by itself", () => {
  const ends: readonly (readonly [EnvironmentEnd["reason"], LeaseEndReason])[] = [
    ["memory", "memory"],
    ["disk", "disk"],
    ["output", "output"],
    ["deadline", "deadline"],
    ["exit", "crash"],
    ["signal", "crash"],
    ["closed", "crash"],
    ["unknown", "lost"],
  ];
  it.each(ends)("by %s ends its lease with the reason %s", async (reason, expected) => {
    const { lease, world, store, leases } = await acquired();
    const running = codeOf(lease.run(["resist"]));
    await settle();
    const end = { reason, detail: "in the test" };
    world.endWorker(lease.record.worker, end);
    expect(await lease.ended).toEqual({ reason: expected, end });
    expect(await running).toMatch(/^(LEASE_ENDED|ENVIRONMENT_ENDED)$/);
    expect(await codeOf(lease.run(["exit"]))).toBe("LEASE_ENDED");
    expect(leases.find(lease.id, "ann")).toBeUndefined();
    await settle();
    expect(await store.get(lease.id)).toMatchObject({ state: "released", endReason: expected });
  });

  it("fails what runs without waiting for the grace", async () => {
    const { lease, world, clock } = await acquired();
    const running = codeOf(lease.run(["resist"]));
    await settle();
    world.endWorker(lease.record.worker);
    await running;
    await settle();
    expect(lease.record.state).toBe("released");
    expect(clock.scheduler.now()).toBe(1_000);
  });
});

describe("a lease that is not made", () => {
  it("is given up when the provider does not answer, and what comes up late is destroyed", async () => {
    let arrive: (() => void) | undefined;
    const late = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const leased = createLeased({
      limits: { createMs: 5_000, destroyMs: 1_000 },
      memory: { onStep: ({ call, when }) => (call === "create" && when === "before" ? late : undefined) },
    });
    const { leases, clock, world, store } = leased;
    const acquiring = codeOf(leases.acquire({ owner: "ann", profile: "python" }));
    await clock.advance(5_000);
    await clock.advance(1_000);
    expect(await acquiring).toBe("ENVIRONMENT_NOT_CREATED");
    expect((await store.list())[0]).toMatchObject({ state: "releasing", endReason: "create-failed" });
    arrive?.();
    await clock.advance(10_000);
    expect(world.workers).toEqual([]);
    expect((await store.list())[0]?.state).toBe("released");
  });

  it("is discarded when its caller aborts, at once", async () => {
    const { leases, world, store } = createLeased({
      memory: { onStep: ({ call, when }) => (call === "create" && when === "after" ? settle() : undefined) },
    });
    const reason = new Error("not wanted");
    const abort = new AbortController();
    const acquiring = leases.acquire({ owner: "ann", profile: "python", signal: abort.signal });
    const refused = expect(acquiring).rejects.toBe(reason);
    await Promise.resolve();
    abort.abort(reason);
    await refused;
    await settle();
    await settle();
    expect(world.workers).toEqual([]);
    expect((await store.list()).map(({ state, endReason }) => [state, endReason])).toEqual([["released", "discarded"]]);
    const early = leases.acquire({ owner: "ann", profile: "python", signal: AbortSignal.abort(reason) });
    await expect(early).rejects.toBe(reason);
    expect((await store.list()).length).toBe(1);
  });

  it("is released when its worker ends on the way", async () => {
    const leased = createLeased({
      memory: {
        onStep({ call, when, worker }) {
          if (call === "create" && when === "after") leased.world.endWorker(worker ?? "");
        },
      },
    });
    expect(await codeOf(leased.leases.acquire({ owner: "ann", profile: "python" }))).toBe("LEASE_ENDED");
    await settle();
    expect((await leased.store.list()).map(({ state }) => state)).toEqual(["released"]);
  });
});
