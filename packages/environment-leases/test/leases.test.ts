import { describe, expect, it } from "vitest";
import { codeOf, createLeased, text } from "./leased.js";

describe("leases", () => {
  it("acquires, runs and releases", async () => {
    const { leases, world, store, events } = createLeased();
    const lease = await leases.acquire({ owner: "ann", profile: "python", labels: { name: "one" } });
    expect(world.workers).toEqual([lease.record.worker]);
    expect(lease.record).toMatchObject({ state: "active", owner: "ann", generation: 2, labels: { name: "one" } });
    const result = await lease.run(["echo", "hello"]);
    expect([result.exitCode, text(result.stdout)]).toEqual([0, "hello\n"]);
    await lease.release();
    expect(world.workers).toEqual([]);
    expect(await store.get(lease.id)).toMatchObject({ state: "released", endReason: "released" });
    expect((await lease.ended).reason).toBe("released");
    expect(await codeOf(lease.run(["echo"]))).toBe("LEASE_ENDED");
    expect(events.map(({ kind }) => kind)).toEqual([
      "reserved",
      "active",
      "command.intent",
      "command.outcome",
      "releasing",
      "released",
    ]);
    await leases.close();
  });
});
