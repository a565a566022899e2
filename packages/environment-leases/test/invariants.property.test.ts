import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scaledCount } from "../../../fixtures/counts.js";
import type { Lease, WarmLease } from "../src/index.js";
import type { MemoryProgram } from "../src/memory.js";
import { settle } from "./clock.js";
import { createMachine, type Fate, type Host, type Machine } from "./faulty.js";
import { assertAllEnds, type Watcher, watchMachine } from "./invariants.js";
import { codeOf } from "./leased.js";

type Step =
  | { readonly do: "acquire"; readonly owner: string; readonly ttlMs: number; readonly idleMs: number | undefined }
  | { readonly do: "warm" | "activate" | "sweep" | "crash" | "recover" }
  | {
      readonly do: "run";
      readonly which: number;
      readonly program: "work" | "wait" | "resist";
      readonly abort: boolean;
    }
  | { readonly do: "renew"; readonly which: number; readonly ttlMs: number; readonly isStale: boolean }
  | { readonly do: "release" | "endWorker"; readonly which: number }
  | { readonly do: "pass" | "setWall"; readonly ms: number };

const which = fc.nat({ max: 5 });
const ttlMs = fc.constantFrom(1_000, 3_000, 30_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("acquire" as const),
    owner: fc.constantFrom("ann", "bob"),
    ttlMs,
    idleMs: fc.option(fc.constantFrom(1_000, 2_000), { nil: undefined }),
  }),
  fc.record({ do: fc.constantFrom("warm", "activate", "sweep", "crash", "recover") }),
  fc.record({
    do: fc.constant("run" as const),
    which,
    program: fc.constantFrom("work", "wait", "resist"),
    abort: fc.boolean(),
  }),
  fc.record({
    do: fc.constant("run" as const),
    which,
    program: fc.constant("work" as const),
    abort: fc.constant(false),
  }),
  fc.record({ do: fc.constant("renew" as const), which, ttlMs, isStale: fc.boolean() }),
  fc.record({ do: fc.constantFrom("release", "endWorker"), which }),
  fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(10, 500, 1_500, 6_000, 61_000) }),
  fc.record({ do: fc.constant("setWall" as const), ms: fc.constantFrom(-3_600_000, -1_000, 1_000, 3_600_000) }),
);

const fates = fc.array(
  fc.oneof(
    { weight: 12, arbitrary: fc.constant<Fate>("fine") },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Fate>("fails before", "fails after", "crashes before", "crashes after"),
    },
  ),
  { maxLength: 120 },
);

/** What this test knows of a lease, by the monotonic clock. */
interface Known {
  readonly lease: Lease;
  readonly host: Host;
  /** It may not end for its lifetime before this, and gives no result after `latest`. */
  earliest: number;
  latest: number;
}

/** Drives hosts on one machine, one living at a time. */
class Driver {
  readonly machine: Machine;
  readonly watcher: Watcher;
  readonly known: Known[] = [];
  readonly warm: { readonly host: Host; readonly lease: WarmLease }[] = [];
  readonly broken: string[] = [];
  /** Operations that run in each lease now. */
  readonly running = new Map<string, number>();
  host: Host;

  constructor(fate: readonly Fate[]) {
    let calls = 0;
    const work: MemoryProgram = async ({ args: [id = ""], killed }) => {
      const count = (this.running.get(id) ?? 0) + 1;
      this.running.set(id, count);
      if (count > 1) this.broken.push(`${count} operations ran in ${id}`);
      for (let turn = 0; turn < 3 && !killed.aborted; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      this.running.set(id, (this.running.get(id) ?? 1) - 1);
      return 0;
    };
    this.machine = createMachine({ work });
    this.machine.fate = () => {
      calls += 1;
      return fate[calls];
    };
    this.watcher = watchMachine(this.machine);
    this.host = this.machine.boot();
  }

  get now(): number {
    return this.machine.clock.scheduler.now();
  }

  take(lease: Lease, host: Host, from: { readonly ttlMs: number; readonly startedAt: number }): void {
    const known = { lease, host, earliest: from.startedAt + from.ttlMs, latest: this.now + from.ttlMs };
    this.known.push(known);
    void lease.ended.then(({ reason }) => {
      const isEarly = (reason === "expired" || reason === "hard-limit") && this.now < known.earliest;
      if (isEarly) this.broken.push(`${lease.id} ended (${reason}) ${known.earliest - this.now} ms early`);
    });
  }

  async start(wanted: Step): Promise<void> {
    const { host, machine } = this;
    const startedAt = this.now;
    const known = "which" in wanted ? this.known.at(-1 - (wanted.which % Math.max(1, this.known.length))) : undefined;
    switch (wanted.do) {
      case "acquire": {
        const { do: _, ...plan } = wanted;
        this.take(await host.leases.acquire({ profile: "python", ...plan }), host, { ttlMs: plan.ttlMs, startedAt });
        return;
      }
      case "warm":
        this.warm.push({ host, lease: await host.leases.warm({ profile: "python", maxAgeMs: 20_000 }) });
        return;
      case "activate": {
        const warm = this.warm.pop();
        const lease = await warm?.lease.activate({ owner: "ann", ttlMs: 3_000 });
        if (warm !== undefined && lease !== undefined) this.take(lease, warm.host, { ttlMs: 3_000, startedAt });
        return;
      }
      case "run":
        return known === undefined ? undefined : this.run(known, wanted);
      case "renew":
        return known === undefined ? undefined : this.renew(known, wanted);
      case "release":
        await known?.lease.release();
        return;
      case "endWorker":
        machine.world.endWorker(known?.lease.record.worker ?? "");
        return;
      case "sweep":
        await host.leases.sweep();
        return;
      case "recover":
        await host.leases.recover();
        return;
      default:
        return;
    }
  }

  async run({ lease, host, latest }: Known, wanted: Extract<Step, { do: "run" }>): Promise<void> {
    const signal = wanted.abort ? AbortSignal.abort(new Error("aborted")) : undefined;
    await lease.run([wanted.program, lease.id], { signal, timeoutMs: 2_000 });
    const known = this.known.find((one) => one.lease === lease);
    if (this.now > (known?.latest ?? latest)) this.broken.push(`${lease.id} gave a result after its expiry`);
    const row = await this.machine.store.get(lease.id);
    const isOver = row === undefined || row.state === "released" || row.state === "lost";
    if (isOver && host.isAlive) this.broken.push(`${lease.id} gave a result although it was ${row?.state}`);
  }

  async renew(known: Known, { ttlMs: ttl, isStale }: Extract<Step, { do: "renew" }>): Promise<void> {
    const { generation } = known.lease.record;
    known.latest = Math.max(known.latest, this.now + ttl);
    const renewed = await known.lease.renew({ ttlMs: ttl, generation: isStale ? generation - 1 : generation });
    if (isStale) this.broken.push(`${known.lease.id} was renewed with a stale generation`);
    if (renewed.expiresAt > renewed.ceilingAt) this.broken.push(`${known.lease.id} was renewed past its ceiling`);
  }

  async perform(wanted: Step, settles: boolean): Promise<void> {
    const { machine } = this;
    // Not awaited: what a dead host would answer never comes, and steps may run into each other.
    void this.start(wanted).catch(() => undefined);
    if (wanted.do === "pass") await machine.clock.advance(wanted.ms);
    if (wanted.do === "setWall") machine.clock.setWall(wanted.ms);
    if (wanted.do === "crash") this.host.crash();
    if (settles || !this.host.isAlive) await settle();
    if (!this.host.isAlive) {
      this.host = machine.boot();
      void this.host.leases.recover().catch(() => undefined); // it may be failed or die as well
    }
  }
}

describe("leases under random steps, faults, crashes and clocks", () => {
  it("never leave a worker without a living row, never say released of one that lives, and end all in the end", async () => {
    const numRuns = scaledCount("random lives of leases", 20_000);
    const life = fc.asyncProperty(
      fc.array(fc.tuple(step, fc.boolean()), { minLength: 5, maxLength: 40 }),
      fates,
      async (steps, fate) => {
        const driver = new Driver(fate);
        for (const [wanted, settles] of steps) {
          await driver.perform(wanted, settles);
          await driver.watcher.look();
        }
        await settle();
        await driver.watcher.look();
        driver.host.crash();
        await assertAllEnds(driver.machine);
        expect(driver.broken).toEqual([]);
      },
    );
    await fc.assert(life, { numRuns });
  }, 600_000);
});

describe("a lease that fails to be acquired", () => {
  it("tells its caller why, and leaves nothing", async () => {
    for (const call of ["insert", "create", "update active"]) {
      for (const fate of ["fails before", "fails after"] as const) {
        const machine = createMachine();
        machine.fate = (name) => (name === call ? fate : undefined);
        const { leases } = machine.boot();
        const code = await codeOf(leases.acquire({ owner: "ann", profile: "python" }));
        expect(code, `${call} ${fate}`).toBe(call === "create" ? "ENVIRONMENT_NOT_CREATED" : "STORE_FAILED");
        await settle();
        expect(machine.world.workers).toEqual([]);
        expect((await machine.store.list()).filter(({ state }) => state !== "released")).toEqual([]);
      }
    }
  });
});
