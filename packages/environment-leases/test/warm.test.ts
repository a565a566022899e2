import { describe, expect, it } from "vitest";
import { settle } from "./clock.js";
import { codeOf, createLeased } from "./leased.js";

const python = { profile: "python" } as const;

describe("a warm lease", () => {
  it("is a row without owner whose worker runs already, and becomes one owner's", async () => {
    const { leases, world, store, clock, events } = createLeased();
    const warm = await leases.warm(python);
    expect(world.workers.length).toBe(1);
    const row = await leases.get(warm.id);
    expect(row).toMatchObject({ state: "reserved", owner: undefined, generation: 1 });
    expect(row.expiresAt - row.createdAt).toBe(3_600_000);
    await clock.advance(60_000);
    const lease = await warm.activate({ owner: "ann", ttlMs: 10_000, idleMs: 5_000, labels: { name: "s" } });
    expect(lease.id).toBe(warm.id);
    expect(await store.get(warm.id)).toMatchObject({
      state: "active",
      owner: "ann",
      labels: { name: "s" },
      idleMs: 5_000,
      expiresAt: clock.now() + 10_000,
      ceilingAt: clock.now() + 86_400_000,
    });
    expect(leases.find(warm.id, "ann")).toBe(lease);
    expect((await lease.run(["exit", "0"])).exitCode).toBe(0);
    expect(events.slice(0, 2).map(({ kind }) => kind)).toEqual(["reserved", "active"]);
    await clock.advance(5_100);
    expect((await lease.ended).reason).toBe("idle");
  });

  it("keeps what was prepared in it for its owner, and gives nobody else a way in", async () => {
    const { leases } = createLeased();
    const warm = await leases.warm(python);
    const prepared = await warm.environment.open(["copy"]);
    const lease = await warm.activate({ owner: "ann" });
    expect(await codeOf(warm.environment.open(["copy"]))).toBe("LEASE_ENDED");
    expect(lease.usage().processes).toBe(1);
    expect(await codeOf(warm.activate({ owner: "bob" }))).toBe("LEASE_ENDED");
    await warm.close();
    expect((await lease.run(["exit", "0"])).exitCode, "closing what was given away does nothing").toBe(0);
    await lease.release();
    expect((await prepared.exited).signal).toBe("SIGKILL");
  });

  it("is one owner's although two want it at once", async () => {
    const { leases, store } = createLeased();
    const warm = await leases.warm(python);
    const both = await Promise.all(["ann", "bob"].map((owner) => codeOf(warm.activate({ owner }))));
    expect(both.sort()).toEqual(["LEASE_ENDED", "resolved"]);
    expect((await store.list()).length).toBe(1);
  });

  it("ends at its age, with its worker, or when it is not used", async () => {
    const { leases, clock, store, world } = createLeased();
    const old = await leases.warm({ ...python, maxAgeMs: 10_000 });
    const dead = await leases.warm(python);
    const unused = await leases.warm(python);
    await Promise.all([unused.close(), unused.close(), unused[Symbol.asyncDispose]()]);
    world.endWorker((await leases.get(dead.id)).worker, { reason: "memory", detail: "" });
    await clock.advance(10_100);
    expect(await codeOf(old.activate({ owner: "ann" }))).toBe("LEASE_ENDED");
    expect(await codeOf(dead.activate({ owner: "ann" }))).toBe("LEASE_ENDED");
    expect(await codeOf(unused.activate({ owner: "ann" }))).toBe("LEASE_ENDED");
    expect((await dead.environment.ended).reason).toBe("memory");
    const reasons = (await store.list()).map(({ state, endReason }) => [state, endReason]);
    expect(reasons).toEqual([
      ["released", "hard-limit"],
      ["released", "memory"],
      ["released", "discarded"],
    ]);
    expect(world.workers).toEqual([]);
  });

  it("counts for its owner from the moment of the activation", async () => {
    const { leases } = createLeased({ limits: { maxPerOwner: 1 } });
    const [one, other] = await Promise.all([leases.warm(python), leases.warm(python)]);
    const both = await Promise.all([one, other].map((warm) => codeOf(warm.activate({ owner: "ann" }))));
    expect(both.sort()).toEqual(["QUOTA_REACHED", "resolved"]);
    const left = both[0] === "resolved" ? other : one;
    await settle();
    const free = [one, other].map((warm) => codeOf(warm.activate({ owner: "bob" })));
    expect((await Promise.all(free)).sort()).toEqual(["LEASE_ENDED", "resolved"]);
    expect((await leases.get(left.id)).state).toBe("active");
  });

  it.each([{ maxAgeMs: 999 }, { maxAgeMs: 86_400_001 }, { age: 1 }])("cannot be made with %j", async (options) => {
    const { leases } = createLeased();
    expect(await codeOf(leases.warm({ ...python, ...options }))).toBe("OPTION_INVALID");
  });
});
