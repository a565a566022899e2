import { describe, expect, it } from "vitest";
import { settle } from "./clock.js";
import { codeOf, createLeased, type LeasedOptions } from "./leased.js";

async function acquired(options: LeasedOptions = {}) {
  const leased = createLeased(options);
  const lease = await leased.leases.acquire({ owner: "ann", profile: "open" });
  return { ...leased, lease };
}

const never = new Promise<void>(() => undefined);

describe("a set of leases that is closed", () => {
  it("releases all, refuses what comes, and closes twice", async () => {
    const { leases, store, world, lease, clock } = await acquired();
    const warm = await leases.warm({ profile: "python" });
    await Promise.all([leases.close(), leases.close(), leases[Symbol.asyncDispose]()]);
    await leases.close();
    expect(world.workers).toEqual([]);
    const rows = await store.list();
    expect(rows.map(({ state, endReason }) => [state, endReason])).toEqual(Array(2).fill(["released", "shutdown"]));
    const refused = [
      leases.acquire({ owner: "ann", profile: "python" }),
      leases.warm({ profile: "python" }),
      leases.sweep(),
      leases.recover(),
      warm.activate({ owner: "ann" }),
    ];
    expect(await Promise.all(refused.map(codeOf))).toEqual(Array(5).fill("LEASES_CLOSED"));
    expect(await codeOf(lease.run(["exit"]))).toBe("LEASE_ENDED");
    expect(clock.timers).toBe(0);
  });

  it("ends what is on the way, and leaves nothing of it", async () => {
    const { leases, world, store } = createLeased({
      memory: { onStep: ({ call }) => (call === "create" ? settle() : undefined) },
    });
    const acquiring = codeOf(leases.acquire({ owner: "ann", profile: "python" }));
    await Promise.resolve();
    await leases.close();
    expect(["LEASE_ENDED", "LEASES_CLOSED"]).toContain(await acquiring);
    await settle();
    expect(world.workers).toEqual([]);
    expect((await store.list()).filter(({ state }) => state !== "released")).toEqual([]);
  });

  it("takes no longer than it may, and leaves the rest for the next recovery", async () => {
    const { leases, clock, store } = await acquired({
      limits: { closeMs: 2_000 },
      memory: { onStep: ({ call }) => (call === "destroy" ? never : undefined) },
    });
    let isClosed = false;
    void leases.close().then(() => {
      isClosed = true;
    });
    await clock.advance(1_900);
    expect(isClosed).toBe(false);
    await clock.advance(200);
    expect(isClosed).toBe(true);
    expect((await store.list()).map(({ state }) => state)).toEqual(["releasing"]);
  });

  it("gives running work half of its time at most", async () => {
    const { leases, clock, lease, world } = await acquired({ limits: { closeMs: 2_000, graceMs: 60_000 } });
    void codeOf(lease.run(["resist"]));
    await settle();
    void leases.close();
    await clock.advance(1_100);
    expect(world.workers).toEqual([]);
  });
});
