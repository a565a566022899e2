import { createUnconfinedProvider, type EnvironmentProfile } from "@berth/environment-leases";
import { describe, expect, it } from "vitest";
import type { SessionLimits } from "../src/index.js";
import { openRealSessions, type RealSessions } from "./guests/real-sessions.js";

const profile: Omit<EnvironmentProfile, "provider" | "template"> = { policy: { network: "internet", elevation: true } };
const open = (limits?: SessionLimits): Promise<RealSessions> =>
  openRealSessions((folder) => createUnconfinedProvider({ folder }), profile, limits);

describe("sessions over unconfined leases", () => {
  it("run code, keep its names, and are gone with nothing left", async () => {
    const { sessions, leases, provider, faults } = await open();
    const session = await sessions.start({ owner: "alice", id: "s" });
    await session.execute({ code: "x = 20" });
    expect(await session.execute({ code: "print('hi')\nx + 1" })).toMatchObject({
      result: "21",
      stdout: { text: "hi\n" },
    });
    await session.files.write("f.txt", new TextEncoder().encode("text"));
    expect((await session.execute({ code: "open('f.txt').read()" })).result).toBe("'text'");
    expect(session.status()).toMatchObject({
      state: "active",
      isolated: false,
      lease: { owner: "alice", state: "active" },
    });
    await session.stop();
    expect(sessions.list("alice")).toEqual([]);
    expect((await leases.get(session.status().lease.id)).state).toBe("released");
    await sessions.close();
    await leases.close();
    expect(await provider.listWorkers()).toEqual([]);
    expect(faults).toEqual([]);
  });

  it("end with their worker, at once, and the name is free again", async () => {
    const { sessions } = await open();
    const session = await sessions.start({ owner: "alice", id: "s" });
    const startedAt = performance.now();
    const told = await session.execute({ code: "import os\nos._exit(7)" });
    expect(told).toMatchObject({ status: "dead", reason: expect.stringContaining("status 7") });
    // By its end, and not because the minute was over that a call has.
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(sessions.status("alice", "s")).toMatchObject({ state: "dead", end: { reason: "exit" } });
    expect(sessions.list("alice")).toEqual([]);
    const again = await sessions.start({ owner: "alice", id: "s" });
    expect((await again.execute({ code: "1" })).result).toBe("1");
  });

  it("take their idempotency keys along: one of the same name runs the code anew", async () => {
    const { sessions } = await open();
    const once = { code: "import os\nos.getpid()", idempotencyKey: "k" };
    const first = await sessions.start({ owner: "alice", id: "s" });
    const told = await first.execute(once);
    expect(await first.execute(once)).toBe(told);
    await first.stop();
    const again = await sessions.start({ owner: "alice", id: "s" });
    expect(await again.execute(once)).toMatchObject({ status: "ok", count: 1 });
    expect(await again.execute(once)).not.toBe(told);
  });

  it("end with their lease", async () => {
    const { sessions, leases } = await open();
    const session = await sessions.start({ owner: "alice" });
    const told = session.execute({ code: "import time\ntime.sleep(30)" });
    await leases.release(session.status().lease.id);
    expect((await told).status).toBe("dead");
    expect(await session.ended).toMatchObject({ reason: "stopped" });
  });

  it("give a call without a session a worker of its own", async () => {
    const { sessions } = await open();
    expect((await sessions.executeOnce("alice", { code: "x = 1\nx" })).result).toBe("1");
    expect((await sessions.executeOnce("alice", { code: "'x' in globals()" })).result).toBe("False");
  });
});
